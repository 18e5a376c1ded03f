import type { LucideIcon } from "lucide-react";
import type { ReactNode } from "react";

interface EmptyStateProps {
  icon: LucideIcon;
  /** A sentence that says what is missing. */
  title: string;
  text?: ReactNode;
  action?: ReactNode;
}

/** Replaces an empty list: a sentence and at most one action. */
export function EmptyState({ icon: Icon, title, text, action }: EmptyStateProps) {
  return (
    <div className="mx-auto flex w-full max-w-md flex-col items-center justify-center gap-3 px-6 py-14 text-center">
      <span
        aria-hidden="true"
        className="flex size-10 items-center justify-center rounded-md border border-line bg-surface text-ink-soft"
      >
        <Icon className="size-4.5" strokeWidth={1.6} />
      </span>
      <p className="font-medium text-small">{title}</p>
      {text !== undefined && <div className="text-caption text-ink-soft">{text}</div>}
      {action}
    </div>
  );
}
