// @vitest-environment node
import { expect, test } from "vitest";
import {
  type BucketForm,
  findBucketFaults,
  parseSize,
  settingsOf,
  writeSize,
} from "./bucket-settings";

const emptyBucketForm: BucketForm = { name: "", isPublic: false, sizeLimit: "", types: "" };

test("CONSOLE-120 sizes are read in decimal units, as the service counts them", () => {
  expect(["5 MB", "1.5gb", "700", "", "lots"].map(parseSize)).toEqual([
    5_000_000,
    1_500_000_000,
    700,
    null,
    undefined,
  ]);
  expect([5_000_000, 1_500_000_000, 2_500, 701, null].map(writeSize)).toEqual([
    "5 MB",
    "1.5 GB",
    "2.5 kB",
    "701",
    "",
  ]);
});

test("CONSOLE-120 faults of a bucket's form stand at their fields", () => {
  const form = { ...emptyBucketForm, name: "a/b", sizeLimit: "many", types: "image/png, png" };

  expect(Object.keys(findBucketFaults(form, []))).toEqual(["name", "sizeLimit", "types"]);
  expect(findBucketFaults({ ...emptyBucketForm, name: "photos" }, ["photos"]).name).toContain(
    "exists",
  );
  expect(findBucketFaults({ ...emptyBucketForm, name: "photos" }, [])).toEqual({});
});

test("CONSOLE-120 empty fields mean no limit", () => {
  expect(settingsOf({ ...emptyBucketForm, name: "a", types: "image/*  image/png" })).toEqual({
    public: false,
    file_size_limit: null,
    allowed_mime_types: ["image/*", "image/png"],
  });
  expect(settingsOf(emptyBucketForm).allowed_mime_types).toBeNull();
});
