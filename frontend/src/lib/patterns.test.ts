// @vitest-environment node
import { expect, it } from "vitest";
import { isUuid } from "./patterns";

it.each([
  ["0c4fd442-892e-5fd5-8365-edecd0844467", true],
  ["0C4FD442-892E-5FD5-8365-EDECD0844467", true],
  ["night-bus", false],
  ["0c4fd442-892e-5fd5-8365-edecd0844467-2", false],
])("%s is a UUID: %s", (text, expected) => {
  expect(isUuid(text)).toBe(expected);
});
