// @vitest-environment node
import { describe, expect, it } from "vitest";
import { mayHoldMetadata, sniffType } from "./picture-file";

function bytesOf(text: string): Uint8Array {
  return Uint8Array.from(text, (letter) => letter.charCodeAt(0));
}

describe("the format of a file", () => {
  it.each([
    ["\x89PNG\r\n\x1a\n\0\0\0\rIHDR", "image/png"],
    ["\xff\xd8\xff\xe1\0\x10Exif", "image/jpeg"],
    ["GIF89a\x01\0", "image/gif"],
    ["RIFF\x10\0\0\0WEBPVP8 ", "image/webp"],
    ["\0\0\0\x1cftypavif\0\0\0\0avifmif1", "image/avif"],
    ["\0\0\0\x18ftypheic\0\0\0\0mif1heic", "image/heic"],
    ["\0\0\0\x18ftypmp42\0\0\0\0isom", null],
    ["<svg xmlns='http://www.w3.org/2000/svg'/>", null],
    ["<!doctype html><script>", null],
    ["", null],
  ])("%j is %s", (text, type) => {
    expect(sniffType(bytesOf(text))).toBe(type);
  });
});

describe("metadata", () => {
  it.each([
    "\xff\xd8\xff\xe1\0\x10Exif\0\0",
    "RIFF....WEBPVP8X....EXIF",
    "\x89PNG....eXIf",
    "PNG..iTXt",
  ])("is seen in %j", (text) => {
    expect(mayHoldMetadata(bytesOf(text))).toBe(true);
  });

  it("is not seen where there is none", () => {
    expect(mayHoldMetadata(bytesOf("\x89PNG\r\n\x1a\n\0\0\0\rIHDR....IDAT....IEND"))).toBe(false);
  });
});
