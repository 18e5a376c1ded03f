// @vitest-environment node
import { expect, test } from "vitest";
import { formatBytes } from "./format";

test.each([
  [0, "0 B"],
  [999, "999 B"],
  [1000, "1.0 kB"],
  [8192, "8.2 kB"],
  [999_499, "999 kB"],
  [999_500, "1.0 MB"],
  [64_000_000, "64.0 MB"],
  [1_000_000_000, "1.0 GB"],
])("console_052_%d_bytes_are_shown_as_%s", (bytes, text) => {
  expect(formatBytes(bytes)).toBe(text);
});
