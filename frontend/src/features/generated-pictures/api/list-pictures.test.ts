import { describe, expect, it } from "vitest";
import { fileName, isInProgress } from "./list-pictures";

describe("fileName", () => {
  it.each([
    ["Harbour walk", "u/generated/1.jpg", "harbour-walk.jpg"],
    ["Été à Paris!", "u/generated/1.webp", "t-paris.webp"],
    ["夏", "u/generated/1.png", "outfit.png"],
    ["Look", "u/generated/1", "look.jpg"],
  ])("of %s", (title, objectName, expected) => {
    expect(fileName({ title }, objectName)).toBe(expected);
  });
});

describe("isInProgress", () => {
  it("is true until there is a picture, a failure or a cancellation", () => {
    const statuses = ["queued", "running", "succeeded", "failed", "cancelled"] as const;
    expect(statuses.filter((status) => isInProgress({ status }))).toEqual(["queued", "running"]);
  });
});
