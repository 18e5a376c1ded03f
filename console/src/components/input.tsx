import { cn } from "@ui/cn";
import { ChevronDown } from "lucide-react";
import type { ComponentProps } from "react";

const box =
  "w-full rounded-sm border border-line-strong/50 bg-surface px-2.5 text-caption text-ink transition-colors placeholder:text-ink-soft hover:border-line-strong focus:border-ink-soft disabled:cursor-not-allowed disabled:opacity-60 aria-invalid:border-danger max-md:text-body";

interface InputProps extends ComponentProps<"input"> {
  /** For values of the database, SQL and paths. */
  mono?: boolean;
}

export function Input({ mono = false, className, ...rest }: InputProps) {
  return (
    <input
      autoComplete="off"
      spellCheck={false}
      className={cn(box, "h-8 pointer-coarse:h-11", mono && "font-mono", className)}
      {...rest}
    />
  );
}

interface TextareaProps extends ComponentProps<"textarea"> {
  mono?: boolean;
}

export function Textarea({ mono = false, className, ...rest }: TextareaProps) {
  return (
    <textarea
      spellCheck={false}
      className={cn(box, "min-h-16 py-1.5 leading-5", mono && "font-mono", className)}
      {...rest}
    />
  );
}

/** The browser's own select: it works with every keyboard and screen reader, and phones show their wheel. */
export function Select({ className, children, ...rest }: ComponentProps<"select">) {
  return (
    <span className={cn("relative block", className)}>
      <select
        className={cn(box, "h-8 appearance-none truncate pr-7 pointer-coarse:h-11")}
        {...rest}
      >
        {children}
      </select>
      <ChevronDown
        aria-hidden="true"
        className="pointer-events-none absolute top-1/2 right-2 size-3.5 -translate-y-1/2 text-ink-soft"
      />
    </span>
  );
}

interface CheckboxProps extends Omit<ComponentProps<"input">, "type"> {
  /** Neither on nor off, for "some of the rows". */
  mixed?: boolean;
}

export function Checkbox({ mixed = false, className, ...rest }: CheckboxProps) {
  return (
    <input
      type="checkbox"
      ref={(element) => {
        if (element !== null) element.indeterminate = mixed;
      }}
      className={cn("size-3.5 shrink-0 accent-accent", className)}
      {...rest}
    />
  );
}
