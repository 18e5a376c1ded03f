import { type ComponentProps, cloneElement, isValidElement } from "react";
import { cn } from "./cn";
import { Spinner } from "./spinner";

type Variant = "primary" | "secondary" | "quiet" | "danger";
/** `dense` is for tools with many controls; the others are large enough for touch. */
type Size = "dense" | "md" | "lg";

const variants: Record<Variant, string> = {
  primary: "bg-accent text-on-accent hover:bg-accent-strong",
  secondary: "border border-line-strong/60 text-ink hover:border-ink hover:bg-sheen",
  quiet: "text-ink-soft hover:bg-sheen hover:text-ink",
  danger: "border border-danger/50 text-danger hover:border-danger hover:bg-danger/10",
};

const sizes: Record<Size, string> = {
  dense: "h-8 pointer-coarse:h-11 rounded-sm px-3 text-caption",
  md: "h-11 rounded-full px-5 text-small",
  lg: "h-12 rounded-full px-6 text-small",
};

interface ButtonProps extends ComponentProps<"button"> {
  variant?: Variant;
  size?: Size;
  /** Shows a spinner and disables the button while its action runs. */
  pending?: boolean;
  /** Gives its only child, a link, the looks of the button. */
  asChild?: boolean;
}

export function Button({
  variant = "secondary",
  size = "md",
  pending = false,
  asChild = false,
  className,
  children,
  disabled,
  type = "button",
  ...rest
}: ButtonProps) {
  const classes = cn(
    "relative inline-flex items-center justify-center gap-2",
    "font-medium whitespace-nowrap transition-colors select-none",
    "disabled:cursor-not-allowed disabled:opacity-50",
    variants[variant],
    sizes[size],
    className,
  );
  if (asChild && isValidElement<{ className?: string }>(children)) {
    return cloneElement(children, { className: cn(classes, children.props.className) });
  }
  return (
    <button
      type={type}
      className={classes}
      disabled={disabled || pending}
      aria-busy={pending || undefined}
      {...rest}
    >
      {pending && <Spinner size="sm" />}
      {children}
    </button>
  );
}
