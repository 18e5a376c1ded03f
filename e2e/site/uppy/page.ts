// What the page of an application holds that uploads with Uppy: the stock packages, set up as Supabase's guide to resumable
// uploads says. Bundled by Vite for the journeys in ../uppy.spec.ts.

import Uppy, { type UppyFile } from "@uppy/core";
import Tus from "@uppy/tus";

type Meta = Record<string, unknown>;
type Body = Record<string, unknown>;

/** An upload to be done. */
export interface Wish {
  endpoint: string;
  headers: Record<string, string>;
  objectName: string;
  /** Bytes; what they are follows from their place, so that both sides know them. */
  size: number;
  cacheControl?: string;
  metadata?: string;
  /** When to try again; by default as in the guide. */
  retryDelays?: number[];
}

/** How an upload ended. */
export interface Outcome {
  successful: number;
  /** Status and body of each refusal. */
  refusals: [number | undefined, string | undefined][];
}

/** The bytes of every upload. */
export function content(size: number): Uint8Array<ArrayBuffer> {
  return new Uint8Array(size).map((_, at) => (at * 31 + (at >> 12)) % 251);
}

let uppy: Uppy<Meta, Body> | undefined;

/** Uploads one file to its end. Whoever waits for progress gets it by `onProgress`. */
async function upload(wish: Wish): Promise<Outcome> {
  const { onProgress } = globalThis as unknown as { onProgress?: (sent: number) => void };
  uppy = new Uppy<Meta, Body>({ autoProceed: false }).use(Tus, {
    endpoint: wish.endpoint,
    headers: wish.headers,
    retryDelays: wish.retryDelays ?? [0, 3000, 5000, 10_000, 20_000],
    uploadDataDuringCreation: true,
    removeFingerprintOnSuccess: true,
    chunkSize: 6 * 1024 * 1024,
    allowedMetaFields: ["bucketName", "objectName", "contentType", "cacheControl", "metadata"],
  });
  uppy.on("file-added", (file: UppyFile<Meta, Body>) => {
    file.meta = {
      ...file.meta,
      bucketName: "files",
      objectName: wish.objectName,
      contentType: file.type,
      cacheControl: wish.cacheControl,
      metadata: wish.metadata,
    };
  });
  uppy.on("upload-progress", (_file, { bytesUploaded }) => {
    onProgress?.(bytesUploaded);
  });
  const refusals: Outcome["refusals"] = [];
  uppy.on("upload-error", (_file, _error, response) => {
    const xhr = response?.body?.xhr as XMLHttpRequest | undefined;
    refusals.push([response?.status, xhr?.responseText]);
  });
  uppy.addFile({
    name: "film.mp4",
    type: "video/mp4",
    data: new Blob([content(wish.size)], { type: "video/mp4" }),
  });
  const result = await uppy.upload();
  return { successful: result?.successful?.length ?? 0, refusals };
}

/** Stops what is under way, or lets it go on. */
function pauseOrResume(): void {
  const file = uppy?.getFiles()[0];
  if (file) {
    uppy?.pauseResume(file.id);
  }
}

/** What the bundle puts on the page. */
export interface Application {
  upload: typeof upload;
  pauseOrResume: typeof pauseOrResume;
}

Object.assign(globalThis, { application: { upload, pauseOrResume } satisfies Application });
