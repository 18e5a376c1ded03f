import { describe, expect, test } from "vitest";
import {
  findLeftOver,
  findStartable,
  reduceUploads,
  restoreUploads,
  serializeUploads,
  summarizeUploads,
  type Upload,
  type UploadEvent,
} from "./upload-queue";

function upload(id: string, changes: Partial<Upload> = {}): Upload {
  return {
    id,
    bucket: "photos",
    name: `holiday/${id}.png`,
    size: 100,
    type: "image/png",
    lastModified: 1,
    state: "waiting",
    sent: 0,
    upsert: false,
    url: null,
    error: null,
    ...changes,
  };
}

const applyTo = (uploads: Upload[], ...events: UploadEvent[]) =>
  events.reduce<Upload[]>(reduceUploads, uploads);

describe("CONSOLE-120 queue of uploads", () => {
  test("three uploads run at once, in the order of their addition", () => {
    const uploads = ["a", "b", "c", "d"].map((id) => upload(id));
    expect(findStartable(uploads).map(({ id }) => id)).toEqual(["a", "b", "c"]);

    const running = applyTo(uploads, { type: "started", id: "a" }, { type: "started", id: "b" });

    expect(findStartable(running).map(({ id }) => id)).toEqual(["c"]);
  });

  test("a paused upload ignores progress that was still under way, and goes on where it was", () => {
    const uploads = applyTo(
      [upload("a")],
      { type: "started", id: "a" },
      { type: "located", id: "a", url: "/upload/1" },
      { type: "progressed", id: "a", sent: 40 },
      { type: "paused", ids: ["a"] },
      { type: "progressed", id: "a", sent: 60 },
    );
    expect(uploads[0]).toMatchObject({ state: "paused", sent: 40, url: "/upload/1" });

    const resumed = applyTo(uploads, { type: "resumed", ids: ["a"] });

    expect(resumed[0]).toMatchObject({ state: "waiting", sent: 40, url: "/upload/1" });
  });

  test("a taken name asks, and each choice is honoured", () => {
    const taken = applyTo([upload("a"), upload("b"), upload("c")], {
      type: "name_taken",
      id: "a",
    });
    const asking = applyTo(taken, { type: "name_taken", id: "b" }, { type: "name_taken", id: "c" });

    const decided = applyTo(
      asking,
      { type: "decided", ids: ["a"], choice: "replace", freeNames: {} },
      { type: "decided", ids: ["b"], choice: "skip", freeNames: {} },
      { type: "decided", ids: ["c"], choice: "keep_both", freeNames: { c: "holiday/c (1).png" } },
    );

    expect(decided[0]).toMatchObject({ state: "waiting", upsert: true });
    expect(decided[1]?.state).toBe("skipped");
    expect(decided[2]).toMatchObject({
      state: "waiting",
      name: "holiday/c (1).png",
      upsert: false,
    });
  });

  test("the summary counts what is skipped as finished", () => {
    const uploads = [
      upload("a", { state: "done", sent: 100 }),
      upload("b", { state: "skipped" }),
      upload("c", { state: "uploading", sent: 50 }),
      upload("d", { state: "failed" }),
    ];

    expect(summarizeUploads(uploads)).toEqual({
      total: 4,
      finished: 2,
      failed: 1,
      asking: 0,
      sent: 250,
      size: 400,
      isRunning: true,
    });
    expect(applyTo(uploads, { type: "cleared" }).map(({ id }) => id)).toEqual(["c", "d"]);
  });
});

describe("CONSOLE-120 resuming after a reload", () => {
  const kept = serializeUploads([
    upload("a", { state: "uploading", sent: 40, url: "/upload/1" }),
    upload("b", { state: "paused" }),
    upload("c", { state: "done" }),
    upload("d", { state: "uploading" }),
  ]);

  test("files that the browser kept go on, paused ones stay paused, others ask for their file", () => {
    const restored = restoreUploads(kept, (id) => id !== "d");

    expect(restored.map(({ id, state, sent }) => [id, state, sent])).toEqual([
      ["a", "waiting", 40],
      ["b", "paused", 0],
      ["d", "file_missing", 0],
    ]);
  });

  test("the same file chosen again is recognised, another is not", () => {
    const restored = restoreUploads(kept, () => false);

    const file = { name: "d.png", size: 100, lastModified: 1 };
    expect(findLeftOver(restored, file)?.id).toBe("d");
    expect(findLeftOver(restored, { ...file, size: 99 })).toBeUndefined();
    expect(applyTo(restored, { type: "file_found", id: "d" })[2]?.state).toBe("waiting");
  });

  test("a broken or older record is forgotten", () => {
    expect(restoreUploads("{", () => true)).toEqual([]);
    expect(restoreUploads('{"form":0,"uploads":[]}', () => true)).toEqual([]);
    expect(restoreUploads(null, () => true)).toEqual([]);
  });
});
