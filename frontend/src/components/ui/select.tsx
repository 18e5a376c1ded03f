import { ChevronDown } from "lucide-react";
import type { ComponentProps } from "react";

/** The browser's own select: it works with every keyboard and screen reader, and phones show their wheel. */
export function Select({ children, ...rest }: Omit<ComponentProps<"select">, "className">) {
  return (
    <span className="relative block">
      <select
        className="h-11 w-full appearance-none truncate rounded-full border border-line bg-surface pr-10 pl-4 text-ink text-small transition-colors hover:border-line-strong focus:border-ink-soft max-md:text-body"
        {...rest}
      >
        {children}
      </select>
      <ChevronDown
        aria-hidden="true"
        className="pointer-events-none absolute top-1/2 right-3.5 size-4 -translate-y-1/2 text-ink-soft"
        strokeWidth={1.6}
      />
    </span>
  );
}
