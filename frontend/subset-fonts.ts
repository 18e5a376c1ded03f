// Vite plugin: cuts the fonts of every first load down to what the site uses.

import subsetFont from "subset-font";
import type { Plugin } from "vite";

/** Printable ASCII, and the signs that good typography and the site's texts use beyond it. */
const usual = `${String.fromCodePoint(...range(0x20, 0x7e))}\u00a0·×–—‘’“”•…€™−`;

/** The rest of Latin-1: accented letters and rarer signs. Loaded only by pages on which one occurs. */
const accents = String.fromCodePoint(...range(0xa1, 0xff));

function range(first: number, last: number): number[] {
  return Array.from({ length: last - first + 1 }, (_, index) => first + index);
}

/** The weights in use, as `ui/tokens.css` and the classes `font-normal` and `font-medium` name them. */
const weights = { min: 400, max: 500, default: 400 };

/** The latin files; those for further alphabets are loaded only where their letters occur. */
const latinFile = /(geist-latin-wght|instrument-serif-latin-400)-[^/]*\.woff2$/;

/** Kerning, composed accents, and digits of equal width for tables. */
const features = ["kern", "ccmp", "mark", "tnum"];

/** `styles/fonts.css` names the file of the accents by this fragment of the address. */
const accentsFragment = /(assets\/[^")]+)\.woff2#accents/g;

/**
 * Replaces each latin font in the bundle by two subsets, without hinting, alternates of letters, and the weights outside of the
 * range in use. File names keep the hash of the whole font, so a browser may use an older subset until the package changes.
 */
export function subsetFonts(): Plugin {
  return {
    name: "subset-fonts",
    apply: "build",
    async generateBundle(_options, bundle) {
      for (const [file, asset] of Object.entries(bundle)) {
        if (asset.type !== "asset") continue;
        if (file.endsWith(".css")) {
          asset.source = asset.source.toString().replace(accentsFragment, "$1-accents.woff2");
        }
        if (!latinFile.test(file)) continue;
        const whole = Buffer.from(asset.source);
        const options = {
          targetFormat: "woff2" as const,
          noHinting: true,
          keepFeatures: features,
          ...(file.includes("wght") && { variationAxes: { wght: weights } }),
        };
        asset.source = await subsetFont(whole, usual, options);
        this.emitFile({
          type: "asset",
          fileName: file.replace(/\.woff2$/, "-accents.woff2"),
          source: await subsetFont(whole, accents, options),
        });
      }
    },
  };
}
