import type { ReactNode } from "react";

export function ActionGroup({ title, children }: { title: string; children: ReactNode }) {
  return (
    <section aria-label={title} className="grid gap-2.5 border-line-soft border-t pt-4">
      <h3 className="font-medium text-caption">{title}</h3>
      {children}
    </section>
  );
}
