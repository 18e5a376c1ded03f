import { afterEach, expect, it, vi } from "vitest";
import { storeSession } from "@/testing/fake-session";

afterEach(() => vi.doUnmock("tus-js-client"));

it("sends no piece with the session of another user", async () => {
  const headers: Record<string, string>[] = [];
  let aborted = 0;
  vi.doMock("tus-js-client", () => ({
    DetailedError: class extends Error {},
    Upload: class {
      constructor(
        _: File,
        readonly options: { onBeforeRequest: (request: unknown) => Promise<void> },
      ) {}
      findPreviousUploads = async () => [];
      async abort() {
        aborted += 1;
      }
      start() {
        const sent: Record<string, string> = {};
        const setHeader = (name: string, value: string) => {
          sent[name] = value;
        };
        this.options.onBeforeRequest({ setHeader }).then(
          () => headers.push(sent),
          () => undefined,
        );
      }
    },
  }));
  storeSession("mira");
  const { uploadResumably } = await import("./resumable-upload");
  const request = {
    file: new File(["x"], "x.webp"),
    bucket: "photos",
    objectName: "x",
    place: "p",
    contentType: "image/webp",
    onProgress: () => undefined,
  };

  await expect(uploadResumably({ ...request, owner: "somebody-else" })).rejects.toThrow(
    /Another account is signed in/,
  );
  expect([headers, aborted]).toEqual([[], 1]);
  void uploadResumably({ ...request, owner: "mira" });
  await vi.waitFor(() => expect(headers).toHaveLength(1));
  expect(headers[0]?.Authorization).toMatch(/^Bearer /);
});

it("sends nothing of an upload that was cancelled while it was prepared", async () => {
  let started = 0;
  let findPrevious: () => Promise<[]> = async () => [];
  vi.doMock("tus-js-client", () => ({
    DetailedError: class extends Error {},
    Upload: class {
      findPreviousUploads = () => findPrevious();
      abort = async () => undefined;
      start() {
        started += 1;
      }
    },
  }));
  const { uploadResumably } = await import("./resumable-upload");
  const upload = (signal: AbortSignal) =>
    uploadResumably({
      owner: "mira",
      file: new File(["x"], "x.webp"),
      bucket: "photos",
      objectName: "x",
      place: "p",
      contentType: "image/webp",
      onProgress: () => undefined,
      signal,
    });

  // While the picture was decoded, before there was an upload.
  await expect(upload(AbortSignal.abort())).rejects.toThrow("The upload was cancelled.");
  const cancel = new AbortController();
  findPrevious = async () => {
    cancel.abort();
    return [];
  };
  await expect(upload(cancel.signal)).rejects.toThrow("The upload was cancelled.");
  expect(started).toBe(0);
});
