import type { ComponentProps } from "react";
import { Link } from "react-router";
import { isDoubleClick } from "@/lib/stray-clicks";

const lastClicks = new Map<string, { event: MouseEvent; number: number }>();

/** Number of clicks on the page so far, whatever was clicked. */
let clicks = 0;
window.addEventListener("click", () => (clicks += 1), { capture: true });

/**
 * Whether this click is the second one of a double click among buttons of this kind, on whatever row: the first one may have taken
 * its row away. A click at another place is meant, and so is one after a click on something else.
 */
export function isSecondClick(event: MouseEvent, kind = "row"): boolean {
  // Keys and screen readers click without a pointer.
  if (event.detail === 0) return false;
  const last = lastClicks.get(kind);
  lastClicks.set(kind, { event, number: clicks });
  if (last === undefined || last.number < clicks - 1) return false;
  return isDoubleClick(last.event, event);
}

const rowButtonClasses =
  "inline-flex size-8 items-center justify-center rounded-md text-ink-soft transition-colors hover:bg-sheen hover:text-ink pointer-coarse:size-11 [&_svg]:size-4";

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
      className={rowButtonClasses}
      {...rest}
    />
  );
}

/** A link that looks like a {@link RowButton}. */
export function RowLink({ label, ...rest }: ComponentProps<typeof Link> & { label: string }) {
  return <Link aria-label={label} title={label} className={rowButtonClasses} {...rest} />;
}
