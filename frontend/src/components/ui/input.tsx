import { cn } from "@ui/cn";
import type { ComponentProps } from "react";

interface InputProps extends Omit<ComponentProps<"input">, "className"> {
  /** Leaves room for a button inside the field, at the end. */
  trailing?: boolean;
}

/** Single-line input. Its font has 16 pixels, because phones zoom into smaller ones on focus. */
export function Input({ trailing = false, ...rest }: InputProps) {
  return (
    <input
      className={cn(
        "h-12 w-full rounded-md border border-line-strong/70 bg-surface pl-4 text-body text-ink transition-colors",
        "placeholder:text-ink-soft hover:border-line-strong focus:border-ink",
        "aria-invalid:border-danger",
        trailing ? "pr-13" : "pr-4",
      )}
      {...rest}
    />
  );
}
