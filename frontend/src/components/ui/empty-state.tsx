import type { ReactNode } from "react";

interface EmptyStateProps {
  glyph: ReactNode;
  title: string;
  action?: ReactNode;
}

/** Replaces an empty list: an icon, a sentence and at most one action. */
export function EmptyState({ glyph, title, action }: EmptyStateProps) {
  return (
    <div className="mx-auto flex min-h-[50vh] max-w-md flex-col items-center justify-center gap-6 px-6 py-16 text-center">
      <span
        aria-hidden="true"
        className="flex size-16 items-center justify-center rounded-full border border-line text-ink-soft [&_svg]:size-6"
      >
        {glyph}
      </span>
      <p className="font-serif text-heading text-ink">{title}</p>
      {action}
    </div>
  );
}
