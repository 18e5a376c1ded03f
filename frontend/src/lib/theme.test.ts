import { afterEach, expect, it } from "vitest";
import { appearanceKey, chooseAppearance, currentAppearance, themeFor } from "./theme";

afterEach(() => localStorage.clear());

it.each([
  ["by-page", "dark", true, "dark"],
  ["by-page", "light", true, "light"],
  ["light", "dark", true, "light"],
  ["dark", "light", false, "dark"],
  ["system", "light", true, "dark"],
  ["system", "dark", false, "light"],
] as const)("%s shows a %s page (system dark: %s) as %s", (appearance, page, isDark, expected) => {
  expect(themeFor(appearance, page, isDark)).toBe(expected);
});

it("keeps the choice in the browser, and forgets it when the default is chosen again", () => {
  chooseAppearance("dark");
  expect(localStorage.getItem(appearanceKey)).toBe("dark");
  expect(currentAppearance()).toBe("dark");

  chooseAppearance("by-page");
  expect(localStorage.getItem(appearanceKey)).toBeNull();
});

it("ignores a stored value that it does not know", () => {
  localStorage.setItem(appearanceKey, "sepia");
  expect(currentAppearance()).toBe("by-page");
});
