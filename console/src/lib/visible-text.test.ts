// @vitest-environment node
import { describe, expect, it } from "vitest";
import { visibleParts } from "./visible-text";

describe("visibleParts", () => {
  it.each([
    ["a plain name", [{ text: "a plain name" }]],
    ["", []],
    [
      "a\u202eb",
      [{ text: "a" }, { text: "U+202E", sign: "right-to-left override" }, { text: "b" }],
    ],
    ["\u0000", [{ text: "␀", sign: "character ␀" }]],
    ["a\nb", [{ text: "a" }, { text: "⏎", sign: "line feed" }, { text: "b" }]],
    ["\ud800x", [{ text: "U+D800", sign: "character U+D800" }, { text: "x" }]],
    ["👩‍🚀", [{ text: "👩‍🚀" }]],
  ])("console_163_draws_invisible_characters_of_%j_as_signs", (text, parts) => {
    expect(visibleParts(text)).toEqual(parts);
  });

  it("console_163_keeps_line_feeds_of_multiline_texts", () => {
    expect(visibleParts("a\n\tb", true)).toEqual([{ text: "a\n\tb" }]);
  });
});
