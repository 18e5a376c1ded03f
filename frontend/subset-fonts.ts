// Vite plugin: cuts the fonts of every first load down to what the site uses.

import subsetFont from "subset-font";
import type { Plugin } from "vite";

/** Printable ASCII and Latin-1, and the signs that good typography and the site's texts use beyond them. */
const characters = `${String.fromCodePoint(
  ...Array.from({ length: 0x7f - 0x20 }, (_, index) => 0x20 + index),
  ...Array.from({ length: 0x100 - 0xa0 }, (_, index) => 0xa0 + index),
)}–—‘’“”•…€™−`;

/** The weights in use, as `styles/tokens.css` and the classes `font-normal` and `font-medium` name them. */
const weights = { min: 400, max: 500, default: 400 };

/** The latin files; those for further alphabets are loaded only where their letters occur. */
const latinFile = /(geist-latin-wght|instrument-serif-latin-400)-[^/]*\.woff2$/;

/**
 * Replaces the latin fonts in the bundle by subsets: the files of the package hold alternates of letters and the weights 100 to
 * 900. File names keep the hash of the whole font, so a browser may use an older subset until the package changes.
 */
export function subsetFonts(): Plugin {
  return {
    name: "subset-fonts",
    apply: "build",
    async generateBundle(_options, bundle) {
      for (const [file, asset] of Object.entries(bundle)) {
        if (asset.type !== "asset" || !latinFile.test(file)) continue;
        const isVariable = file.includes("wght");
        asset.source = await subsetFont(Buffer.from(asset.source), characters, {
          targetFormat: "woff2",
          ...(isVariable && { variationAxes: { wght: weights } }),
        });
      }
    },
  };
}
