// @vitest-environment node
import { describe, expect, it } from "vitest";
import { returnPath } from "./paths";

describe("returnPath", () => {
  it("goes back to where the visitor came from", () => {
    expect(returnPath({ from: "/?outfit=rain-plan" })).toBe("/?outfit=rain-plan");
  });

  it.each([
    null,
    {},
    { from: 7 },
    { from: "//evil.example" },
    { from: "https://evil.example" },
    { from: "/auth" },
  ])("goes home instead of to %j", (state) => {
    expect(returnPath(state)).toBe("/");
  });
});
