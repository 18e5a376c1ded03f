import type { ComponentProps } from "react";
import { cn } from "@/lib/cn";

interface IconButtonProps extends ComponentProps<"button"> {
  /** What the button does, for those who do not see the icon. */
  label: string;
  variant?: "plain" | "floating";
  size?: "md" | "lg";
  /** Takes no order for a moment. Keeps its looks and the focus, which `disabled` would lose. */
  busy?: boolean;
}

/** A round button around an icon; never smaller than a fingertip. */
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
        "inline-flex shrink-0 items-center justify-center rounded-full transition-colors",
        size === "md" ? "size-11" : "size-12",
        "disabled:cursor-not-allowed disabled:opacity-50",
        variant === "plain" && "text-ink-soft hover:bg-sheen hover:text-ink",
        variant === "floating" && "floating-disc text-ink",
        className,
      )}
      {...rest}
    />
  );
}
