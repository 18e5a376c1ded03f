// Script of a page that uploads with the stock Uppy packages, configured as in Supabase's guide to resumable uploads.
// ../uppy.spec.ts bundles it with Vite.

import Uppy, { type UppyFile } from "@uppy/core";
import Tus from "@uppy/tus";

type Meta = Record<string, unknown>;
type Body = Record<string, unknown>;

/** An upload and its options. */
export interface UploadRequest {
  endpoint: string;
  headers: Record<string, string>;
  objectName: string;
  /** Size in bytes. The content is computed from the position, so that the test can compare it. */
  size: number;
  cacheControl?: string;
  metadata?: string;
  /** Milliseconds between retries; by default those of the guide. */
  retryDelays?: number[];
}

/** How an upload ended. */
export interface UploadOutcome {
  successful: number;
  /** Status and body of each error response. */
  refusals: [number | undefined, string | undefined][];
}

/** The content of an upload of this size. */
export function buildContent(size: number): Uint8Array<ArrayBuffer> {
  return new Uint8Array(size).map((_, at) => (at * 31 + (at >> 12)) % 251);
}

let uppy: Uppy<Meta, Body> | undefined;

/** Uploads one file. Calls the global `onProgress`, if the test has set it, with the bytes sent so far. */
async function upload(request: UploadRequest): Promise<UploadOutcome> {
  const { onProgress } = globalThis as unknown as { onProgress?: (sent: number) => void };
  uppy = new Uppy<Meta, Body>({ autoProceed: false }).use(Tus, {
    endpoint: request.endpoint,
    headers: request.headers,
    retryDelays: request.retryDelays ?? [0, 3000, 5000, 10_000, 20_000],
    uploadDataDuringCreation: true,
    removeFingerprintOnSuccess: true,
    chunkSize: 6 * 1024 * 1024,
    allowedMetaFields: ["bucketName", "objectName", "contentType", "cacheControl", "metadata"],
  });
  uppy.on("file-added", (file: UppyFile<Meta, Body>) => {
    file.meta = {
      ...file.meta,
      bucketName: "files",
      objectName: request.objectName,
      contentType: file.type,
      cacheControl: request.cacheControl,
      metadata: request.metadata,
    };
  });
  uppy.on("upload-progress", (_file, { bytesUploaded }) => {
    onProgress?.(bytesUploaded);
  });
  const refusals: UploadOutcome["refusals"] = [];
  uppy.on("upload-error", (_file, _error, response) => {
    const xhr = response?.body?.xhr as XMLHttpRequest | undefined;
    refusals.push([response?.status, xhr?.responseText]);
  });
  uppy.addFile({
    name: "film.mp4",
    type: "video/mp4",
    data: new Blob([buildContent(request.size)], { type: "video/mp4" }),
  });
  const result = await uppy.upload();
  return { successful: result?.successful?.length ?? 0, refusals };
}

/** Pauses the running upload, or resumes it. */
function togglePause(): void {
  const file = uppy?.getFiles()[0];
  if (file) {
    uppy?.pauseResume(file.id);
  }
}

/** The global `application` of the page. */
export interface Application {
  upload: typeof upload;
  togglePause: typeof togglePause;
}

Object.assign(globalThis, { application: { upload, togglePause } satisfies Application });
