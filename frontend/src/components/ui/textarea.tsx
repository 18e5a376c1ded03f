import type { ComponentProps } from "react";

/** Text input of several lines, in the looks of `Input`. */
export function Textarea(props: Omit<ComponentProps<"textarea">, "className">) {
  return (
    <textarea
      rows={4}
      className="w-full rounded-md border border-line-strong/70 bg-surface px-4 py-3 text-body text-ink transition-colors placeholder:text-ink-soft hover:border-line-strong focus:border-ink aria-invalid:border-danger"
      {...props}
    />
  );
}
