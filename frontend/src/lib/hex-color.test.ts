// @vitest-environment node
import { expect, test } from "vitest";
import { expandHexColor } from "@/lib/hex-color";

test("three hex digits become six", () => {
  expect(expandHexColor("#f0A")).toBe("#ff00AA");
  expect(expandHexColor("#ff5733")).toBe("#ff5733");
});
