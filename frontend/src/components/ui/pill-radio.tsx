import { cn } from "@ui/cn";
import type { ReactNode } from "react";

interface PillRadioProps {
  /** Of the group of radio buttons. */
  name: string;
  value: string;
  checked: boolean;
  onChoose: () => void;
  children: ReactNode;
}

/** One of a few words to choose from, which stand beside each other. */
export function PillRadio({ name, value, checked, onChoose, children }: PillRadioProps) {
  return (
    <label
      className={cn(
        "inline-flex h-11 cursor-pointer items-center rounded-full border px-4 text-small transition-colors has-focus-visible:outline-2 has-focus-visible:outline-accent has-focus-visible:outline-offset-2",
        checked
          ? "border-ink bg-ink text-canvas"
          : "border-line-strong/60 text-ink hover:border-ink",
      )}
    >
      <input
        type="radio"
        name={name}
        value={value}
        checked={checked}
        onChange={onChoose}
        className="sr-only"
      />
      {children}
    </label>
  );
}
