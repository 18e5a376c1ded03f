declare module "subset-font" {
  /** The font with the glyphs of these characters alone. Axes may be narrowed to a range. */
  export default function subsetFont(
    font: Buffer,
    characters: string,
    options: {
      targetFormat: "woff2";
      variationAxes?: Record<string, { min: number; max: number; default: number }>;
    },
  ): Promise<Buffer>;
}
