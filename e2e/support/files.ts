// Pictures for uploads, and what a bucket really holds.

import { owner } from "./clients.ts";

/** Bytes have no type of their own, so uploads name it. */
export const png = { contentType: "image/png" };

/** The smallest PNG: one transparent pixel. */
export function picture(): Buffer {
  return Buffer.from(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
    "base64",
  );
}

/** Names of the files in a folder, past every policy. */
export async function storedFiles(bucket: string, folder: string): Promise<string[]> {
  const { data, error } = await owner().storage.from(bucket).list(folder);
  if (error) {
    throw error;
  }
  return data.map(({ name }) => name).sort();
}
