// Writes `.br` and `.gz` files beside the text files of a built site, with the best compression. Otherwise the server
// would compress them at every start. Usage: node tools/compress.mjs FOLDER

import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";

const folder = process.argv[2];
// Not index.html: the server writes the project's key into it.
const compressible = /\.(js|css|svg|json|txt|xml|webmanifest|map)$/;
const minimumBytes = 1024;

let [files, before, after] = [0, 0, 0];
for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
  if (!entry.isFile() || !compressible.test(entry.name)) continue;
  const path = join(entry.parentPath ?? entry.path, entry.name);
  const content = readFileSync(path);
  if (content.length < minimumBytes) continue;
  const brotli = brotliCompressSync(content, {
    params: { [constants.BROTLI_PARAM_QUALITY]: 11, [constants.BROTLI_PARAM_SIZE_HINT]: content.length },
  });
  writeFileSync(`${path}.br`, brotli);
  writeFileSync(`${path}.gz`, gzipSync(content, { level: 9 }));
  files += 1;
  before += content.length;
  after += brotli.length;
}
console.log(`${files} files, ${Math.round(before / 1024)} KiB, compressed ${Math.round(after / 1024)} KiB`);
