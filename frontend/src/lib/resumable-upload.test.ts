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
