/** Shape of every card in a grid: a picture with a caption of fixed height below. */
export interface CardShape {
  /** Height over width of the picture. */
  ratio: number;
  /** Height in pixels. */
  captionHeight: number;
}

/** Columns and gutter for a container of this width in pixels: 2 on phones, 3 on tablets, up to 5 above. */
export function columnsFor(width: number): { count: number; gap: number } {
  if (width < 600) return { count: 2, gap: 12 };
  if (width < 940) return { count: 3, gap: 16 };
  if (width < 1340) return { count: 4, gap: 20 };
  return { count: 5, gap: 20 };
}

/**
 * The number of columns in CSS, for content that is shown before a script has measured anything. Its parent is a
 * `@container`.
 */
export const columnClasses =
  "grid grid-cols-2 gap-3 @min-[600px]:grid-cols-3 @min-[600px]:gap-4 @min-[940px]:grid-cols-4 @min-[940px]:gap-5 @min-[1340px]:grid-cols-5";
