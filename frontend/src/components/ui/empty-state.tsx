import { cn } from "@ui/cn";
import type { ReactNode } from "react";

interface EmptyStateProps {
  glyph: ReactNode;
  title: string;
  action?: ReactNode;
  /** Whether more follows below it, which is to be seen without scrolling. */
  followed?: boolean;
}

/** Replaces an empty list: an icon, a sentence and at most one action. */
export function EmptyState({ glyph, title, action, followed = false }: EmptyStateProps) {
  return (
    <div
      className={cn(
        "mx-auto flex max-w-md flex-col items-center justify-center gap-6 px-6 text-center",
        followed ? "min-h-[32vh] py-8" : "min-h-[50vh] py-16",
      )}
    >
      <span
        aria-hidden="true"
        className="flex size-16 items-center justify-center rounded-full border border-line text-ink-soft [&_svg]:size-6"
      >
        {glyph}
      </span>
      <p className="text-balance font-serif text-heading text-ink [overflow-wrap:anywhere]">
        {title}
      </p>
      {action}
    </div>
  );
}
