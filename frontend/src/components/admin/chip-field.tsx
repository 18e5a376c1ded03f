import { cn } from "@ui/cn";
import { isEnter } from "@ui/keys";
import { useState } from "react";
import { Input } from "@/components/ui/input";

export interface Chip {
  id: string;
  name: string;
  /** Shown as a dot before the name. */
  hexCode?: string;
}

interface ChipFieldProps {
  label: string;
  /** Absent while they are loaded. */
  chips: readonly Chip[] | undefined;
  loadingText: string;
  chosen: readonly string[];
  onChange: (ids: string[]) => void;
}

const notListed = "Not in the list";
/** More are searched and not looked through. */
const fewChips = 24;

/** Checkboxes in the form of chips, for lists of which several may be chosen. */
export function ChipField({ label, chips, loadingText, chosen, onChange }: ChipFieldProps) {
  // What was deleted since it was chosen has a chip, too: the row could not be saved with it, and it can be taken out.
  const unknown = chips && chosen.filter((id) => chips.every((chip) => chip.id !== id));
  const all = chips && [...chips, ...(unknown ?? []).map((id) => ({ id, name: notListed }))];
  const [text, setText] = useState("");
  const wanted = text.trim().toLowerCase();
  const shown = all?.filter(({ name }) => name.toLowerCase().includes(wanted));
  return (
    <fieldset>
      <legend className="mb-1.5 font-medium text-small">{label}</legend>
      {all !== undefined && all.length > fewChips && (
        <div className="mb-1.5 flex items-center gap-3">
          <Input
            type="search"
            aria-label={`Search ${label.toLowerCase()}`}
            placeholder={`Search ${all.length} ${label.toLowerCase()}...`}
            value={text}
            onChange={(event) => setText(event.target.value)}
            onKeyDown={(event) => {
              // It would submit the form.
              if (isEnter(event)) event.preventDefault();
            }}
          />
          <span className="shrink-0 text-caption text-ink-soft tabular-nums">
            {chosen.length} chosen
          </span>
        </div>
      )}
      {wanted !== "" && shown?.length === 0 && (
        <p className="text-ink-soft text-small">Nothing is called that.</p>
      )}
      {chips === undefined && <p className="text-ink-soft text-small">{loadingText}</p>}
      {/* Relative, because the hidden checkboxes are placed in it: elsewhere they would stretch the panel. */}
      <div className="relative flex max-h-44 flex-wrap gap-1.5 overflow-y-auto p-1">
        {shown?.map(({ id, name, hexCode }: Chip) => {
          const isChosen = chosen.includes(id);
          return (
            <label
              key={id}
              className={cn(
                "inline-flex min-h-8 items-center gap-1.5 rounded-full border px-3 text-caption pointer-coarse:min-h-11 has-focus-visible:outline-2 has-focus-visible:outline-accent",
                isChosen ? "border-ink bg-ink text-canvas" : "border-line-strong/60 bg-surface",
              )}
            >
              <input
                type="checkbox"
                className="sr-only"
                checked={isChosen}
                onChange={() =>
                  onChange(isChosen ? chosen.filter((one) => one !== id) : [...chosen, id])
                }
              />
              {hexCode !== undefined && (
                <span
                  aria-hidden="true"
                  className="size-3.5 rounded-full border border-line"
                  style={{ backgroundColor: hexCode }}
                />
              )}
              {name}
            </label>
          );
        })}
      </div>
    </fieldset>
  );
}
