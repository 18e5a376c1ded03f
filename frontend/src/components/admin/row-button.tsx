import type { ComponentProps } from "react";

/** A small button with an icon in a row of a table; large enough for fingers on touch screens. */
export function RowButton({ label, ...rest }: ComponentProps<"button"> & { label: string }) {
  return (
    <button
      type="button"
      aria-label={label}
      title={label}
      className="inline-flex size-8 items-center justify-center rounded-md text-ink-soft transition-colors hover:bg-sheen hover:text-ink pointer-coarse:size-11 [&_svg]:size-4"
      {...rest}
    />
  );
}
