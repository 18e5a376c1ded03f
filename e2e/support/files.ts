// A picture for uploads, and the files that a bucket really holds.

import { crc32, deflateSync } from "node:zlib";
import { owner } from "./clients.ts";

/** Upload options for a PNG, because a Buffer has no content type. */
export const png = { contentType: "image/png" };

/** The smallest PNG: one transparent pixel. */
export function picture(): Buffer {
  return Buffer.from(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
    "base64",
  );
}

/** A grey PNG with so many pixels on each side, for places that refuse smaller pictures. */
export function squarePicture(side: number): Buffer {
  const chunk = (type: string, data: Buffer) => {
    const body = Buffer.concat([Buffer.from(type, "latin1"), data]);
    const [length, check] = [Buffer.alloc(4), Buffer.alloc(4)];
    length.writeUInt32BE(data.length);
    check.writeUInt32BE(crc32(body));
    return Buffer.concat([length, body, check]);
  };
  const header = Buffer.alloc(13);
  header.writeUInt32BE(side, 0);
  header.writeUInt32BE(side, 4);
  // Eight bits of grey; the other fields are zero.
  header[8] = 8;
  const rows = Buffer.alloc((side + 1) * side, 0x90);
  for (let row = 0; row < side; row++) rows[row * (side + 1)] = 0;
  return Buffer.concat([
    Buffer.from("\x89PNG\r\n\x1a\n", "latin1"),
    chunk("IHDR", header),
    chunk("IDAT", deflateSync(rows)),
    chunk("IEND", Buffer.alloc(0)),
  ]);
}

/** A JPEG with what phones write into photos: the place where it was taken, and that it is to be turned by 90 degrees. */
export function withCameraData(jpeg: Buffer): Buffer {
  const tiff = Buffer.alloc(8 + 2 + 2 * 12 + 4 + 2 + 12 + 4);
  tiff.write("II*\0", 0, "latin1");
  tiff.writeUInt32LE(8, 4);
  // Two entries: Orientation is 6, and where the entries about the place are.
  tiff.writeUInt16LE(2, 8);
  const entry = (at: number, tag: number, type: number, count: number, value: number) => {
    tiff.writeUInt16LE(tag, at);
    tiff.writeUInt16LE(type, at + 2);
    tiff.writeUInt32LE(count, at + 4);
    tiff.writeUInt32LE(value, at + 8);
  };
  entry(10, 0x0112, 3, 1, 6);
  entry(22, 0x8825, 4, 1, 38);
  // One entry about the place: the reference of the latitude is "N".
  tiff.writeUInt16LE(1, 38);
  entry(40, 1, 2, 2, 0x4e);
  const segment = Buffer.concat([Buffer.from("Exif\0\0", "latin1"), tiff]);
  const head = Buffer.from([0xff, 0xe1, 0, 0]);
  head.writeUInt16BE(segment.length + 2, 2);
  return Buffer.concat([jpeg.subarray(0, 2), head, segment, jpeg.subarray(2)]);
}

/** Names of the files in a folder, listed with the service key, to which no policy applies. */
export async function storedFiles(bucket: string, folder: string): Promise<string[]> {
  const { data, error } = await owner().storage.from(bucket).list(folder);
  if (error) {
    throw error;
  }
  return data.map(({ name }) => name).sort();
}
