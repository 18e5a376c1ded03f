import type { ReactNode } from "react";

/** A part of the panel for a review, with its heading. */
export function PanelPart({ title, children }: { title: string; children: ReactNode }) {
  return (
    <section className="mt-6">
      <h3 className="mb-2 font-medium text-small">{title}</h3>
      {children}
    </section>
  );
}
