import { describe, expect, it } from "vitest";
import { type Job, progressOfJob, titleOfJob } from "./jobs-api";

const job: Job = {
  id: "1",
  kind: "move",
  bucket: "photos",
  target_bucket: "photos",
  first: { from: "a/summer/", to: "a/2024/" },
  steps: 1,
  state: "running",
  account: null,
  created_at: "2026-01-01T00:00:00Z",
  finished_at: null,
  total: 1200,
  done: 300,
  failed: 0,
  error: null,
};

describe("console_121 a job says what it does and how far it is", () => {
  it("tells renaming from moving", () => {
    expect(titleOfJob(job)).toBe("Renaming summer/ to 2024");
    expect(titleOfJob({ ...job, first: { from: "a/summer/", to: "b/summer/" } })).toBe(
      "Moving summer/ to b/",
    );
    expect(
      titleOfJob({ ...job, target_bucket: "old", first: { from: "summer/", to: "summer/" } }),
    ).toBe("Moving summer/ to old/");
  });

  it("counts several entries", () => {
    expect(titleOfJob({ ...job, kind: "delete", steps: 3, state: "done" })).toBe(
      "Deleted 3 entries",
    );
  });

  it("says how many files are done and how many failed", () => {
    expect(progressOfJob(job)).toBe("300 of 1,200 files");
    expect(progressOfJob({ ...job, state: "done", done: 1, failed: 2 })).toBe("1 file, 2 failed");
    expect(progressOfJob({ ...job, state: "cancelled" })).toBe("Cancelled after 300 files");
  });
});
