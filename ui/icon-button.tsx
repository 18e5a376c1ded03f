import type { ComponentProps } from "react";
import { cn } from "./cn";

type Variant = "plain" | "floating";
/** `dense` is for tools with many controls: on touch screens it grows to 44 pixels. */
type Size = "dense" | "md" | "lg";

const sizes: Record<Size, string> = {
  dense: "size-8 pointer-coarse:size-11 rounded-sm",
  md: "size-11 rounded-full",
  lg: "size-12 rounded-full",
};

/** The looks of the button, for links that stand beside such buttons. */
export function iconButtonClasses(variant: Variant, size: Size = "md"): string {
  return cn(
    "inline-flex shrink-0 items-center justify-center transition-colors",
    sizes[size],
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

/** A button with an icon alone, at least 44 pixels wide for touch. */
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
