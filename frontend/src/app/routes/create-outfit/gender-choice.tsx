import { cn } from "@ui/cn";
import { Suspense, useState } from "react";
import {
  type GenderChoice as Choice,
  type Draft,
  itemsThatDoNotFit,
  type PickedItem,
} from "@/features/submissions/api/draft";
import { lazyPart } from "@/lib/lazy-part";

const ConfirmDialog = lazyPart(
  async () => ({
    default: (await import("@/components/ui/confirm-dialog")).ConfirmDialog,
  }),
  "overlay",
);

const choices: readonly { value: Choice; label: string }[] = [
  { value: "all", label: "All" },
  { value: "men", label: "Men" },
  { value: "women", label: "Women" },
  { value: "unisex", label: "Unisex" },
];

interface GenderChoiceProps {
  draft: Draft;
  onChange: (change: Partial<Draft>) => void;
}

/**
 * The gender for which the outfit is. A change that would remove chosen items must be confirmed; items that still fit are
 * kept.
 */
export function GenderChoice({ draft, onChange }: GenderChoiceProps) {
  const [asked, setAsked] = useState<{ gender: Choice; lost: PickedItem[] }>();

  function choose(gender: Choice) {
    const lost = itemsThatDoNotFit(draft.items, gender);
    if (lost.length > 0) setAsked({ gender, lost });
    else onChange({ gender });
  }

  function takeOut() {
    if (asked === undefined) return;
    const lostIds = new Set(asked.lost.map(({ id }) => id));
    onChange({ gender: asked.gender, items: draft.items.filter(({ id }) => !lostIds.has(id)) });
    setAsked(undefined);
  }

  const label = choices.find(({ value }) => value === asked?.gender)?.label;
  return (
    <fieldset className="flex flex-wrap gap-2">
      <legend className="sr-only">Gender</legend>
      {choices.map(({ value, label: text }) => (
        <label
          key={value}
          className={cn(
            "inline-flex h-11 cursor-pointer items-center rounded-full border px-4 text-small transition-colors has-focus-visible:outline-2 has-focus-visible:outline-accent has-focus-visible:outline-offset-2",
            draft.gender === value
              ? "border-ink bg-ink text-canvas"
              : "border-line-strong/60 text-ink hover:border-ink",
          )}
        >
          <input
            type="radio"
            name="gender"
            value={value}
            checked={draft.gender === value}
            onChange={() => choose(value)}
            className="sr-only"
          />
          {text}
        </label>
      ))}
      {asked !== undefined && (
        <Suspense>
          <ConfirmDialog
            title={`Change to ${label}?`}
            text="These items do not fit and would be removed from the outfit:"
            confirmLabel={
              asked.lost.length === 1 ? "Remove 1 item" : `Remove ${asked.lost.length} items`
            }
            onConfirm={takeOut}
            onClose={() => setAsked(undefined)}
          >
            <ul className="mt-2 list-disc pl-5 text-ink-soft text-small">
              {asked.lost.map(({ id, name }) => (
                <li key={id}>{name}</li>
              ))}
            </ul>
          </ConfirmDialog>
        </Suspense>
      )}
    </fieldset>
  );
}
