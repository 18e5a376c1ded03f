import type { ComponentProps } from "react";

/** Milliseconds within which a second click belongs to the first one. Systems take up to 500 for a double click. */
const doubleClickMs = 500;
let lastClick = Number.NEGATIVE_INFINITY;

/** Whether this click is the second one of a double click, on whatever row: the first one may have taken its row away. */
function isSecondClick(event: MouseEvent): boolean {
  // Keys and screen readers click without a pointer.
  if (event.detail === 0) return false;
  const isSecond = event.timeStamp - lastClick < doubleClickMs;
  lastClick = event.timeStamp;
  return isSecond;
}

/** A small button with an icon in a row of a table; large enough for fingers on touch screens. A double click acts once. */
export function RowButton({
  label,
  onClick,
  ...rest
}: ComponentProps<"button"> & { label: string }) {
  return (
    <button
      type="button"
      onClick={(event) => {
        if (!isSecondClick(event.nativeEvent)) onClick?.(event);
      }}
      aria-label={label}
      title={label}
      className="inline-flex size-8 items-center justify-center rounded-md text-ink-soft transition-colors hover:bg-sheen hover:text-ink pointer-coarse:size-11 [&_svg]:size-4"
      {...rest}
    />
  );
}
