import type { HttpRequest, PreviousUpload } from "tus-js-client";
import { ServiceError } from "@/lib/service-error";
import { servicesUrl } from "@/lib/services";
import { loadAuth, supabaseKey } from "@/lib/supabase";

/** Bytes per request. An interrupted request is sent again from its beginning, so a piece costs a slow phone some seconds. */
const pieceBytes = 1024 * 1024;
/** Pauses in milliseconds before a failed request is sent again. After the last one the upload waits for the user. */
const retryDelays = [0, 1000, 3000, 5000];

export interface UploadRequest {
  /** The user whose file it is. No piece is sent with the session of another one, who may sign in meanwhile. */
  owner: string;
  file: File;
  bucket: string;
  /** Name of the object. An interrupted upload of the same file to the same place keeps the name it began with. */
  objectName: string;
  /** The purpose of the upload, such as a user's slot. Together with the file it identifies an interrupted upload. */
  place: string;
  contentType: string;
  /** Called with the sent part of the file, 0 to 1. */
  onProgress: (sent: number) => void;
  signal?: AbortSignal;
}

/** Somebody else is signed in by now. */
class OtherUserError extends ServiceError {
  constructor() {
    super("Another account is signed in by now, so the upload was stopped.", "other_user", 0);
  }
}

/** The error of an upload that the person has cancelled. */
export const cancelled = () => new DOMException("The upload was cancelled.", "AbortError");

/** Adds the key and the session's current token, because an upload may take longer than a token is valid. */
async function authorise(request: HttpRequest, owner: string): Promise<void> {
  const { data } = await (await loadAuth()).getSession();
  const user = data.session?.user.id;
  if (user !== undefined && user !== owner) throw new OtherUserError();
  request.setHeader("apikey", supabaseKey);
  request.setHeader("Authorization", `Bearer ${data.session?.access_token ?? supabaseKey}`);
}

/** The latest interrupted upload of this file to this place. */
function latestOf(previous: readonly PreviousUpload[]): PreviousUpload | undefined {
  return [...previous].sort((one, other) => other.creationTime.localeCompare(one.creationTime))[0];
}

/**
 * Uploads a file in pieces by the TUS protocol, and continues where an earlier attempt was interrupted: the network
 * failed, or the page was closed and the same file is chosen again. Returns the object's name. Throws a {@link
 * ServiceError}.
 */
export async function uploadResumably(request: UploadRequest): Promise<string> {
  const { file, signal } = request;
  const { DetailedError, Upload } = await import("tus-js-client");
  const metadata = {
    bucketName: request.bucket,
    objectName: request.objectName,
    contentType: request.contentType,
    cacheControl: "3600",
  };
  return new Promise((resolve, reject) => {
    const upload = new Upload(file, {
      endpoint: `${servicesUrl}/storage/v1/upload/resumable`,
      chunkSize: pieceBytes,
      retryDelays,
      headers: { "x-upsert": "false" },
      metadata,
      fingerprint: async () =>
        ["lookbook", request.bucket, request.place, file.name, file.size, file.lastModified].join(
          ":",
        ),
      removeFingerprintOnSuccess: true,
      onBeforeRequest: (sent) =>
        authorise(sent, request.owner).catch((error: unknown) => {
          // Not repeated as after a lost connection.
          void upload.abort();
          reject(error);
          throw error;
        }),
      onProgress: (sent, total) => request.onProgress(total === 0 ? 1 : sent / total),
      onSuccess: () => resolve(metadata.objectName),
      onError: (error) => {
        const response = error instanceof DetailedError ? error.originalResponse : null;
        reject(
          new ServiceError(
            messageIn(response?.getBody() ?? "") ?? "The upload was interrupted.",
            "",
            response?.getStatus() ?? 0,
            error,
          ),
        );
      },
    });
    signal?.addEventListener("abort", () => {
      void upload.abort();
      reject(cancelled());
    });
    // A signal that has come already reports nothing any more.
    if (signal?.aborted === true) return reject(cancelled());
    const start = () => {
      if (signal?.aborted !== true) upload.start();
    };
    upload.findPreviousUploads().then((previous) => {
      const latest = latestOf(previous);
      if (latest !== undefined) {
        // Also for the case that the server has forgotten the upload, and it begins anew under the same name.
        metadata.objectName = latest.metadata.objectName ?? metadata.objectName;
        upload.resumeFromPreviousUpload(latest);
      }
      start();
    }, start);
  });
}

/** The message of a refusal, which storage sends as JSON or as plain text. */
function messageIn(body: string): string | undefined {
  try {
    const parsed: unknown = JSON.parse(body);
    if (typeof parsed === "object" && parsed !== null && "message" in parsed) {
      return String(parsed.message);
    }
  } catch {
    // The text is not JSON.
  }
  return body.trim() === "" ? undefined : body.trim();
}

/** A name that no other file has: a time stamp and a random string, with the extension of the file's type. */
export function uniqueFileName(extension: string): string {
  return `${Date.now()}-${crypto.randomUUID().slice(0, 8)}.${extension}`;
}
