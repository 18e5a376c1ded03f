// Resumable uploads whose client is cut off while a node finishes them, and goes on by another node.

import { createHash } from "node:crypto";
import { pause } from "./conditions.ts";
import type { Machine } from "./network.ts";

/** How long a client tries to learn what has become of an upload. In milliseconds. */
const patienceMs = 90_000;
/** One answer may take this long while the store is slow. In milliseconds. */
const answerMs = 30_000;

/** A client that uploads one file. */
export interface CutOffUpload {
  key: string;
  /** Name of the object in the bucket `files`. */
  name: string;
  bytes: Buffer;
  /** After this time the client is cut off from the first node. In milliseconds. */
  cutAfterMs: number;
  /** Whether somebody ends the upload by the second node at the same moment. */
  isEnded: boolean;
}

/**
 * Uploads half of a file to the first node, is cut off while the other half is finished there, and asks the second one until it says that all
 * of the file is stored. Returns whether it did.
 */
export async function uploadCutOff(
  [first, second]: [Machine, Machine],
  upload: CutOffUpload,
): Promise<boolean> {
  const { bytes } = upload;
  const half = Math.floor(bytes.length / 2);
  const created = await send(upload, first, "POST", "/storage/v1/upload/resumable");
  const location = created?.headers.get("location");
  if (created?.status !== 201 || !location) {
    throw new Error(`an upload could not be begun: ${created?.status}`);
  }
  const path = new URL(location, "http://node").pathname;
  await send(upload, first, "PATCH", path, 0, bytes.subarray(0, half));
  const offset = await untilKnown(upload, first, path, (at) => at > 0);
  const cut = send(upload, first, "PATCH", path, offset, bytes.subarray(offset), upload.cutAfterMs);
  if (upload.isEnded) {
    await Promise.all([cut, send(upload, second, "DELETE", path)]);
  }
  // As a client does whose connection was lost: it asks by another way at once.
  const untilMs = performance.now() + patienceMs;
  while (performance.now() < untilMs) {
    const known = await send(upload, second, "HEAD", path);
    if (known?.status === 404 || known?.status === 410) {
      return false;
    }
    const at = Number(known?.headers.get("upload-offset") ?? Number.NaN);
    if (known?.status === 200 && at === bytes.length) {
      return true;
    }
    if (known?.status === 200) {
      const rest = await send(upload, second, "PATCH", path, at, bytes.subarray(at));
      if (rest?.status === 204) {
        return Number(rest.headers.get("upload-offset")) === bytes.length;
      }
    }
    await pause(100);
  }
  throw new Error(`what became of an upload is not known after ${patienceMs / 1_000} s`);
}

async function untilKnown(
  upload: CutOffUpload,
  node: Machine,
  path: string,
  isEnough: (offset: number) => boolean,
): Promise<number> {
  const untilMs = performance.now() + patienceMs;
  while (performance.now() < untilMs) {
    const known = await send(upload, node, "HEAD", path);
    const at = Number(known?.headers.get("upload-offset") ?? Number.NaN);
    if (known?.status === 200 && isEnough(at)) {
      return at;
    }
    await pause(100);
  }
  throw new Error("the first half of an upload was not stored");
}

async function send(
  { key, name, bytes }: CutOffUpload,
  node: Machine,
  method: string,
  path: string,
  offset?: number,
  body?: Buffer,
  limitMs = answerMs,
): Promise<Response | undefined> {
  const headers: Record<string, string> = {
    apikey: key,
    authorization: `Bearer ${key}`,
    "tus-resumable": "1.0.0",
    "x-upsert": "true",
  };
  if (offset !== undefined) {
    headers["upload-offset"] = `${offset}`;
    headers["content-type"] = "application/offset+octet-stream";
  }
  if (method === "POST") {
    const metadata = { bucketName: "files", objectName: name, contentType: "text/plain" };
    headers["upload-length"] = `${bytes.length}`;
    headers["upload-metadata"] = Object.entries(metadata)
      .map(([field, value]) => `${field} ${Buffer.from(value).toString("base64")}`)
      .join(",");
  }
  const answer = await fetch(`http://${node.address}:54321${path}`, {
    method,
    headers,
    body: body === undefined ? null : new Uint8Array(body),
    signal: AbortSignal.timeout(limitMs),
  }).catch(() => undefined);
  await answer?.arrayBuffer().catch(() => undefined);
  return answer;
}

/** Hash of an object's bytes, or the status of an answer without them. */
export async function readHash(node: Machine, key: string, name: string): Promise<string> {
  const answer = await fetch(`http://${node.address}:54321/storage/v1/object/files/${name}`, {
    headers: { apikey: key, authorization: `Bearer ${key}` },
    signal: AbortSignal.timeout(answerMs),
  });
  const bytes = Buffer.from(await answer.arrayBuffer());
  return answer.status === 200 ? hashOf(bytes) : `${answer.status}`;
}

export function hashOf(bytes: Buffer): string {
  return createHash("sha256").update(bytes).digest("hex");
}
