import type { ComponentProps } from "react";
import { cn } from "@/lib/cn";

type Variant = "plain" | "floating";
type Size = "md" | "lg";

/** The looks of the button, for links that stand beside such buttons. */
export function iconButtonClasses(variant: Variant, size: Size = "md"): string {
  return cn(
    "inline-flex shrink-0 items-center justify-center rounded-full transition-colors",
    size === "md" ? "size-11" : "size-12",
    variant === "plain" && "text-ink-soft hover:bg-sheen hover:text-ink",
    variant === "floating" && "floating-disc text-ink",
  );
}

interface IconButtonProps extends ComponentProps<"button"> {
  /** Accessible name, also shown as tooltip. */
  label: string;
  variant?: Variant;
  size?: Size;
  /** Ignores clicks. Unlike `disabled`, the button keeps its looks and the focus. */
  busy?: boolean;
}

/** A round button with an icon, at least 44 pixels wide for touch. */
export function IconButton({
  label,
  variant = "plain",
  size = "md",
  busy = false,
  className,
  type = "button",
  onClick,
  ...rest
}: IconButtonProps) {
  return (
    <button
      type={type}
      aria-label={label}
      title={label}
      aria-disabled={busy || undefined}
      onClick={busy ? undefined : onClick}
      className={cn(
        iconButtonClasses(variant, size),
        "disabled:cursor-not-allowed disabled:opacity-50",
        className,
      )}
      {...rest}
    />
  );
}
