// The sizes of the item picker, for the app and for the drawing of the first view, so that nothing moves between the two.

import { itemCardShape } from "./item-card-shape";

/** The frame around the items. On phones it fills the screen between the search box and the bar with Next. */
export const pickerArea =
  "h-[max(20rem,calc(100dvh-26rem))] rounded-md border border-line p-3 md:h-128 lg:h-136";

export const pickerPictureSizes = "(min-width: 1024px) 220px, (min-width: 768px) 30vw, 46vw";

/** Pixels between two cards. */
export const pickerGap = 12;

/** Pixels of name, price and button below a picture. */
const captionHeight = 108;

/** Number of lines that fit into the frame on every screen. Their pictures are loaded immediately. */
export const eagerPickerLines = 2;

function columnsFor(width: number): number {
  if (width < 560) return 2;
  if (width < 860) return 3;
  return width < 1100 ? 4 : 5;
}

/** Columns, width of a card and distance between the tops of two lines, for this width of the frame's content in pixels. */
export function measurePicker(width: number) {
  const columns = columnsFor(width);
  const cellWidth = Math.max(0, (width - pickerGap * (columns - 1)) / columns);
  const lineHeight = cellWidth * itemCardShape.ratio + captionHeight + pickerGap;
  return { columns, cellWidth, lineHeight };
}

/** Width of an element without its padding, in pixels. */
export function contentWidth(element: HTMLElement): number {
  const { paddingLeft, paddingRight } = getComputedStyle(element);
  return element.clientWidth - Number.parseFloat(paddingLeft) - Number.parseFloat(paddingRight);
}
