import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { brotliCompressSync, constants } from "node:zlib";

/**
 * A plugin of Vite that writes a Brotli form of the highest quality beside every script and stylesheet. The server could make such
 * forms when it starts, but has no time for the highest quality, which sends a tenth less.
 */
export function compressAssets() {
  return {
    name: "compress-assets",
    apply: "build" as const,
    // The written files are read, because other plugins still change the scripts until then.
    async writeBundle({ dir = "dist" }: { dir?: string }, bundle: Record<string, unknown>) {
      const texts = Object.keys(bundle).filter((fileName) => /\.(js|css)$/.test(fileName));
      for (const fileName of texts) {
        const path = join(dir, fileName);
        const compressed = brotliCompressSync(await readFile(path), {
          params: { [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY },
        });
        await writeFile(`${path}.br`, compressed);
      }
    },
  };
}
