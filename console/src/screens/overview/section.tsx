import type { ReactNode } from "react";

interface SectionProps {
  title: string;
  /** Small text after the title. */
  detail?: ReactNode;
  actions?: ReactNode;
  children: ReactNode;
}

/** A section of the overview with its heading. */
export function Section({ title, detail, actions, children }: SectionProps) {
  return (
    <section aria-label={title} className="min-w-0">
      <header className="mb-2 flex min-h-8 flex-wrap items-center gap-x-3 gap-y-1">
        <h2 className="font-medium text-small">{title}</h2>
        {detail !== undefined && <span className="text-ink-soft text-label">{detail}</span>}
        <div className="ml-auto flex flex-wrap items-center gap-1.5">{actions}</div>
      </header>
      {children}
    </section>
  );
}

/** The classes of the white card that contains a section's content. */
export const cardClasses = "rounded-md border border-line bg-surface";
