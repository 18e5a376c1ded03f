import { expect, it } from "vitest";
import { suggestionBase } from "./username-availability";

it("suggests from lower-case letters, digits and underscores", () => {
  expect(suggestionBase("Mira K. 88_x")).toBe("mirak88_x");
});
