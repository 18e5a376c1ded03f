// @vitest-environment node
import { describe, expect, it } from "vitest";
import { acceptedPhotos, findPhotoProblem } from "./photo-file";

function fileOf(name: string, type: string, size = 10): File {
  const file = new File(["x"], name, { type });
  Object.defineProperty(file, "size", { value: size });
  return file;
}

describe("a chosen photo", () => {
  it.each([
    ["me.JPG", "image/jpeg"],
    ["me.png", "image/png"],
    // Browsers that read it turn it into a JPEG; the others say so when they try.
    ["me.heic", "image/heic"],
    ["IMG_0001.HEIC", ""],
  ])("may be %s", (name, type) => {
    expect(findPhotoProblem(fileOf(name, type))).toBeUndefined();
  });

  it("is asked for without HEIC, so that phones convert it", () => {
    expect(acceptedPhotos).not.toMatch(/hei/);
  });

  it.each([
    ["notes.txt", "text/plain", "Please upload an image file."],
    ["unknown", "", "Please upload an image file."],
    ["drawing.svg", "image/svg+xml", "Please upload a valid image file"],
  ])("is not %s", (name, type, reason) => {
    expect(findPhotoProblem(fileOf(name, type))).toBe(reason);
  });

  it("has 10 MiB and not a byte more", () => {
    const most = 10 * 1024 * 1024;
    expect(findPhotoProblem(fileOf("me.png", "image/png", most))).toBeUndefined();
    expect(findPhotoProblem(fileOf("me.png", "image/png", most + 1))).toBe(
      "File size must be less than 10MB",
    );
  });
});
