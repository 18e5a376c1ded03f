/** Lets the browser draw and take presses before the next part of a long work. */
export const pause = (): Promise<void> => new Promise((resume) => setTimeout(resume, 0));

/** Splits a list, so that the work on each part is short. */
export function partsOf<Item>(items: readonly Item[], size: number): Item[][] {
  const parts: Item[][] = [];
  for (let start = 0; start < items.length; start += size) {
    parts.push(items.slice(start, start + size));
  }
  return parts;
}
