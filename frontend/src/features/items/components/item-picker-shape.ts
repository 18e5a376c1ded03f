// The sizes of the item picker, for the app and for the drawing of the first view, so that nothing moves between the two.

import { itemCardShape } from "./item-card-shape";

/** The frame around the items, in which they are scrolled. On phones there is none, and the page is scrolled. */
export const pickerArea = "md:h-128 md:rounded-md md:border md:border-line md:p-3 lg:h-136";

/** The place of the items before they arrive. On phones it is as high as the screen, so that what is below stays there. */
export const emptyPickerArea = `max-md:min-h-dvh ${pickerArea}`;

/** What is chosen and the way on, below the items. On phones it stays above the navigation, wherever the page is scrolled to. */
export const pickerBar =
  "max-md:sticky max-md:bottom-[calc(3.75rem+env(safe-area-inset-bottom))] max-md:z-20 max-md:-mx-4 max-md:border-line max-md:border-t max-md:bg-canvas max-md:px-4 max-md:py-3";

export const pickerPictureSizes = "(min-width: 1024px) 220px, (min-width: 768px) 30vw, 46vw";

/** Pixels between two cards. */
export const pickerGap = 12;

/** Pixels of name, price and button below a picture. */
const captionHeight = 108;

/** Number of lines that are seen at first on every screen. Their pictures are loaded immediately. */
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
