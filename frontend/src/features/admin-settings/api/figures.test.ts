import { expect, test } from "vitest";
import { formatBytes } from "./figures";

test.each([
  [0, "0 bytes"],
  [999, "999 bytes"],
  [1000, "1.0 kB"],
  [9_940, "9.9 kB"],
  [39_400_000, "39 MB"],
  [2_500_000_000, "2.5 GB"],
])("%d bytes are shown as %s", (bytes, text) => {
  expect(formatBytes(bytes)).toBe(text);
});
