/** Downloads of stored files: small ones through the console, large ones without holding them in the page's memory. */
import { request, send } from "@/api/client";
import { encodePath, lastPartOf } from "./object-path";

const service = "/api/proxy/storage";

/** A file up to this size is held in memory for a moment. */
export const heldBytes = 32_000_000;
/** In seconds. The browser begins the download at once. */
const addressSeconds = 60;

interface SaveTarget {
  /** The public address of the storage service. */
  base: string;
  bucket: string;
  name: string;
  size: number | null;
}

/** What of the browser's file access is used; not every browser has it. */
interface FilePicker {
  showSaveFilePicker?: (options: { suggestedName: string }) => Promise<FileSystemFileHandle>;
}

/**
 * Saves a stored file. A large one is streamed to the disk where the browser offers that; elsewhere the browser itself downloads it,
 * by an address that is valid for a minute.
 */
export async function saveObject({ base, bucket, name, size }: SaveTarget): Promise<void> {
  const path = `${service}/object/authenticated/${encodeURIComponent(bucket)}/${encodePath(name)}`;
  const fileName = lastPartOf(name);
  if (size !== null && size <= heldBytes) {
    saveBlob(await (await send(path)).blob(), fileName);
    return;
  }
  const { showSaveFilePicker } = window as FilePicker;
  if (showSaveFilePicker !== undefined) {
    const handle = await showSaveFilePicker({ suggestedName: fileName });
    const { body } = await send(path);
    await body?.pipeTo(await handle.createWritable());
    return;
  }
  const { signedURL } = await request<{ signedURL: string }>(
    `${service}/object/sign/${encodeURIComponent(bucket)}/${encodePath(name)}`,
    { json: { expiresIn: addressSeconds } },
  );
  open(`${base}${encodeURI(signedURL)}&download=${encodeURIComponent(fileName)}`, fileName);
}

function saveBlob(blob: Blob, name: string): void {
  // Any type that a browser would open instead of saving, above all HTML, is taken away from the file.
  const url = URL.createObjectURL(new Blob([blob], { type: "application/octet-stream" }));
  open(url, name);
  window.setTimeout(() => URL.revokeObjectURL(url), 60_000);
}

function open(url: string, name: string): void {
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  link.rel = "noreferrer";
  link.click();
}

/**
 * The beginning of a text file, of which at most so many bytes are read, also from a service that sends the whole file. A character
 * that is cut at the end is left out.
 */
export async function loadBeginning(
  bucket: string,
  name: string,
  limit: number,
  signal: AbortSignal,
): Promise<{ text: string; bytes: number }> {
  const path = `${service}/object/authenticated/${encodeURIComponent(bucket)}/${encodePath(name)}`;
  const headers = { range: `bytes=0-${limit - 1}` };
  const { body } = await send(path, { headers, signal });
  if (body === null) return { text: "", bytes: 0 };
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let text = "";
  let bytes = 0;
  try {
    while (bytes < limit) {
      const { done, value } = await reader.read();
      if (done) break;
      const part = value.subarray(0, limit - bytes);
      bytes += part.length;
      text += decoder.decode(part, { stream: true });
    }
  } finally {
    await reader.cancel().catch(() => undefined);
  }
  return { text, bytes };
}
