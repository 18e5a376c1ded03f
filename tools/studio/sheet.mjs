// Joins pictures into one contact sheet: node sheet.mjs out.png file1.webp file2.webp …

import sharp from 'sharp';

const [out, ...files] = process.argv.slice(2);
const W = Number(process.env.CELL ?? 300);
const H = Math.round(W * 1.25);
const cols = Number(process.env.COLS ?? 6);
const tiles = await Promise.all(files.map((f) => sharp(f).resize(W, H, { fit: 'contain', background: '#fff' }).toBuffer()));
await sharp({ create: { width: W * Math.min(cols, files.length), height: H * Math.ceil(files.length / cols), channels: 3, background: '#fff' } })
  .composite(tiles.map((input, i) => ({ input, left: (i % cols) * W, top: Math.floor(i / cols) * H })))
  .png()
  .toFile(out);
