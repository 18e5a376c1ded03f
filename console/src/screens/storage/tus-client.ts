/** Sends one file in pieces by the TUS protocol through the console's proxy, which adds the key. */
import {
  DefaultHttpStack,
  DetailedError,
  type HttpRequest,
  type HttpResponse,
  type HttpStack,
  Upload as TusUpload,
} from "tus-js-client";
import { announceRefusal } from "@/api/project";
import type { Upload } from "./upload-queue";

const endpoint = "/api/proxy/storage/upload/resumable";
/** Bytes per request. A request that breaks off is repeated from its beginning, so a slow line loses some seconds at most. */
const pieceBytes = 6 * 1024 * 1024;
const retryDelays = [0, 1000, 3000, 5000];

export interface TusEvents {
  onLocated: (url: string) => void;
  onProgress: (sent: number) => void;
  onSuccess: () => void;
  onNameTaken: () => void;
  onFailure: (message: string) => void;
}

/** The service names an unfinished upload by its public address; below the proxy it has the same last part. */
export function proxiedLocation(location: string): string {
  const path = location.split(/[?#]/)[0] ?? "";
  return `${endpoint}/${path.slice(path.lastIndexOf("/") + 1)}`;
}

/** The client's own requests, except that the answer's `Location` leads to the proxy instead of to another origin. */
class ProxiedStack implements HttpStack {
  private readonly stack = new DefaultHttpStack({});

  createRequest(method: string, url: string): HttpRequest {
    const request = this.stack.createRequest(method, url);
    const send = request.send.bind(request);
    request.send = async (body: unknown) => withProxiedLocation(await send(body));
    return request;
  }

  getName(): string {
    return "ProxiedStack";
  }
}

function withProxiedLocation(response: HttpResponse): HttpResponse {
  const getHeader = response.getHeader.bind(response);
  response.getHeader = (name) => {
    const value = getHeader(name);
    if (name.toLowerCase() !== "location" || value === undefined) return value;
    return new URL(proxiedLocation(value), window.location.origin).href;
  };
  return response;
}

/**
 * Begins or resumes an upload. Every piece has the headers `own`, so that none reaches another project or account that is here
 * meanwhile. The returned function stops it and keeps what was sent.
 */
export function sendFile(
  upload: Upload,
  file: File,
  own: Record<string, string>,
  events: TusEvents,
): () => void {
  const tus = new TusUpload(file, {
    endpoint,
    uploadUrl: upload.url,
    chunkSize: pieceBytes,
    retryDelays,
    storeFingerprintForResuming: false,
    httpStack: new ProxiedStack(),
    headers: { "x-upsert": String(upload.upsert), ...own },
    metadata: {
      bucketName: upload.bucket,
      objectName: upload.name,
      contentType: upload.type || "application/octet-stream",
      cacheControl: "3600",
    },
    onUploadUrlAvailable: () => {
      if (tus.url !== null) events.onLocated(new URL(tus.url, window.location.origin).pathname);
    },
    onProgress: (sent) => events.onProgress(sent),
    onSuccess: () => events.onSuccess(),
    onShouldRetry: (error) => isWorthRetrying(error.originalResponse?.getStatus() ?? 0),
    onError: (error) => reportError(error, own, events),
  });
  tus.start();
  return () => void tus.abort();
}

/** A lost connection, a busy server and a lock that another request still holds pass by themselves. */
function isWorthRetrying(status: number): boolean {
  return status === 0 || status === 423 || status === 429 || status >= 500;
}

function reportError(error: Error, own: Record<string, string>, events: TusEvents): void {
  const response = error instanceof DetailedError ? error.originalResponse : null;
  const status = response?.getStatus() ?? 0;
  const body = response?.getBody().trim() ?? "";
  announceRefusal({ status, code: body.includes('"other_project"') ? "other_project" : "" }, own);
  if (status === 409 && body.includes("already exists")) {
    events.onNameTaken();
    return;
  }
  events.onFailure(readMessage(body) ?? "The connection broke off. What was sent is kept.");
}

/** The message of a refusal, which is plain text or JSON. */
export function readMessage(body: string): string | undefined {
  if (body === "") return undefined;
  try {
    const parsed: unknown = JSON.parse(body);
    if (typeof parsed === "object" && parsed !== null && "message" in parsed) {
      return String(parsed.message);
    }
  } catch {
    // The response is plain text, not JSON.
  }
  return body;
}
