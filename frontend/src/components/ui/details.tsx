import type { ReactNode } from "react";

/** Terms with their values in two columns. */
export function Details({ children }: { children: ReactNode }) {
  return <dl className="grid grid-cols-[5.5rem_1fr] gap-x-4 gap-y-3 text-small">{children}</dl>;
}

export function DetailRow({ term, children }: { term: string; children: ReactNode }) {
  return (
    <>
      <dt className="text-ink-soft">{term}</dt>
      <dd className="min-w-0">{children}</dd>
    </>
  );
}
