// A picture for uploads, and the files that a bucket really holds.

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

/** Names of the files in a folder, listed with the service key, to which no policy applies. */
export async function storedFiles(bucket: string, folder: string): Promise<string[]> {
  const { data, error } = await owner().storage.from(bucket).list(folder);
  if (error) {
    throw error;
  }
  return data.map(({ name }) => name).sort();
}
