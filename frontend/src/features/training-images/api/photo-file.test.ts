import { describe, expect, it } from "vitest";
import { checkPhoto } from "./photo-file";

function fileOf(name: string, type: string, size = 10): File {
  const file = new File(["x"], name, { type });
  Object.defineProperty(file, "size", { value: size });
  return file;
}

describe("checkPhoto", () => {
  it.each([
    ["me.JPG", "image/jpeg", "jpg"],
    ["me.png", "image/png", "png"],
    ["me.heic", "image/heic", "heic"],
  ])("accepts %s", (name, contentType, extension) => {
    expect(checkPhoto(fileOf(name, contentType))).toEqual({ ok: true, contentType, extension });
  });

  it("knows HEIC by its extension where the browser does not know it", () => {
    expect(checkPhoto(fileOf("IMG_0001.HEIC", ""))).toEqual({
      ok: true,
      contentType: "image/heic",
      extension: "heic",
    });
  });

  it.each([
    ["notes.txt", "text/plain", "Please upload an image file."],
    ["unknown", "", "Please upload an image file."],
    ["drawing.svg", "image/svg+xml", "Please upload a valid image file"],
  ])("refuses %s", (name, type, reason) => {
    expect(checkPhoto(fileOf(name, type))).toEqual({ ok: false, reason });
  });

  it("accepts 10 MiB and not a byte more", () => {
    const most = 10 * 1024 * 1024;
    expect(checkPhoto(fileOf("me.png", "image/png", most)).ok).toBe(true);
    expect(checkPhoto(fileOf("me.png", "image/png", most + 1))).toEqual({
      ok: false,
      reason: "File size must be less than 10MB",
    });
  });
});
