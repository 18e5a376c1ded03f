import { cn } from "@ui/cn";
import { ChevronDown } from "lucide-react";
import type { ComponentProps } from "react";
import { expandHexColor } from "@/lib/hex-color";

const controlClass =
  "w-full rounded-md border border-line-strong/70 bg-surface px-4 text-body text-ink transition-colors placeholder:text-ink-soft hover:border-line-strong focus:border-ink aria-invalid:border-danger disabled:opacity-60";

interface SelectProps extends Omit<ComponentProps<"select">, "className"> {
  /** Beside a search box, not in a form. */
  isFilter?: boolean;
}

/** The browser's own select. Filters share a line on phones. */
export function Select({ isFilter = false, ...rest }: SelectProps) {
  return (
    <span className={cn("relative block", isFilter && "min-w-0 flex-1 basis-36 sm:flex-none")}>
      <select
        className={cn(
          "appearance-none truncate pr-10",
          isFilter
            ? "h-11 w-full rounded-full border border-line bg-surface pl-4 text-ink text-small hover:border-line-strong sm:w-42"
            : cn(controlClass, "h-12"),
        )}
        {...rest}
      />
      <ChevronDown
        aria-hidden="true"
        className="pointer-events-none absolute top-1/2 right-3.5 size-4 -translate-y-1/2 text-ink-soft"
        strokeWidth={1.6}
      />
    </span>
  );
}

interface ChoicesProps {
  /** The empty choice. */
  prompt: string;
  /** Absent while they are loaded. */
  rows: readonly { id: string; name: string }[] | undefined;
  /** Id of the chosen row; empty for none. */
  chosen: string;
}

/**
 * The options of a select whose value is the id of a row. A choice that the list does not contain yet has an option, too: without
 * one the select would show the prompt, as if nothing were chosen.
 */
export function Choices({ prompt, rows, chosen }: ChoicesProps) {
  const isListed = chosen === "" || (rows?.some(({ id }) => id === chosen) ?? false);
  return (
    <>
      <option value="">{prompt}</option>
      {rows?.map(({ id, name }) => (
        <option key={id} value={id}>
          {name}
        </option>
      ))}
      {!isListed && (
        <option value={chosen}>{rows === undefined ? "Loading..." : "Not in the list"}</option>
      )}
    </>
  );
}

export function TextArea({ rows = 3, ...rest }: Omit<ComponentProps<"textarea">, "className">) {
  return <textarea rows={rows} className={cn(controlClass, "block py-2.5")} {...rest} />;
}

interface ColorPickerProps {
  label: string;
  /** What stands in the field beside it, which may be no color yet. */
  value: string;
  onChange: (hexCode: string) => void;
}

/** The browser's own picker of colors, beside a field for the code. */
export function ColorPicker({ label, value, onChange }: ColorPickerProps) {
  const code = expandHexColor(value.trim()).toLowerCase();
  return (
    <input
      type="color"
      aria-label={label}
      // Anything else is black to it.
      value={/^#[0-9a-f]{6}$/.test(code) ? code : "#000000"}
      onChange={(event) => onChange(event.target.value.toUpperCase())}
      className="size-12 shrink-0 cursor-pointer rounded-md border border-line bg-surface p-1"
    />
  );
}
