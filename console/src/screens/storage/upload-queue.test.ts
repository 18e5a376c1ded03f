// @vitest-environment node
import { describe, expect, test } from "vitest";
import {
  changesBetween,
  findStartable,
  identifyChosen,
  isStoredUpload,
  reduceUploads,
  restoredState,
  summarizeUploads,
  type Upload,
  type UploadEvent,
} from "./upload-queue";

function upload(id: string, changes: Partial<Upload> = {}): Upload {
  return {
    id,
    bucket: "photos",
    name: `holiday/${id}.png`,
    chosenName: `holiday/${id}.png`,
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
  test("files that the browser kept go on, paused ones stay paused, others ask for their file", () => {
    const kept = new Set(["a", "b", "e"]);
    const states = [
      upload("a", { state: "uploading", sent: 40, url: "/upload/1" }),
      upload("b", { state: "paused" }),
      upload("d", { state: "uploading" }),
      upload("e", { state: "file_missing" }),
    ].map((one) => restoredState(one, kept));

    expect(states).toEqual(["waiting", "paused", "file_missing", "waiting"]);
  });

  test("console_120_a_file_chosen_again_is_recognised_at_its_place_alone", () => {
    const left = upload("d", { state: "file_missing", name: "holiday/d (1).png" });
    const chosen = { bucket: "photos", chosenName: "holiday/d.png", size: 100, lastModified: 1 };

    expect(identifyChosen(chosen)).toBe(identifyChosen(left));
    for (const other of [
      { ...chosen, bucket: "private" },
      { ...chosen, chosenName: "other/d.png" },
      { ...chosen, size: 99 },
      { ...chosen, lastModified: 2 },
    ]) {
      expect(identifyChosen(other)).not.toBe(identifyChosen(left));
    }
    expect(applyTo([left], { type: "file_found", ids: ["d"] })[0]?.state).toBe("waiting");
  });

  test("a broken or older record is no upload", () => {
    expect(isStoredUpload(upload("a"))).toBe(true);
    const { chosenName: _, ...older } = upload("a");
    expect([older, null, "a", { id: 1 }].some(isStoredUpload)).toBe(false);
  });

  test("console_120_of_20_000_uploads_only_the_changed_one_is_stored", () => {
    const before = Array.from({ length: 20_000 }, (_, index) => upload(`${index}`));
    const start = performance.now();
    const after = reduceUploads(before, { type: "started", id: "7" });
    const { changed, gone } = changesBetween(before, after);
    const all = reduceUploads(after, { type: "paused", ids: after.map(({ id }) => id) });

    expect(changed.map(({ id }) => id)).toEqual(["7"]);
    expect(gone).toEqual([]);
    expect(all.every(({ state }) => state === "paused")).toBe(true);
    // Looking every id up in a list took 20 000 times 20 000 steps, which is seconds.
    expect(performance.now() - start).toBeLessThan(1000);
  });
});
