import { Suspense, useState } from "react";
import { PillRadio } from "@/components/ui/pill-radio";
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
        <PillRadio
          key={value}
          name="gender"
          value={value}
          checked={draft.gender === value}
          onChoose={() => choose(value)}
        >
          {text}
        </PillRadio>
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
