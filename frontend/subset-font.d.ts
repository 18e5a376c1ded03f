declare module "subset-font" {
  /** The font with the glyphs of these characters alone. Axes may be narrowed to a range. */
  export default function subsetFont(
    font: Buffer,
    characters: string,
    options: {
      targetFormat: "woff2";
      /** Leaves out instructions for screens of low resolution. */
      noHinting?: boolean;
      /** Tags of OpenType features; all by default. */
      keepFeatures?: string[];
      variationAxes?: Record<string, { min: number; max: number; default: number }>;
    },
  ): Promise<Buffer>;
}
