import { expect, it, vi } from "vitest";

it("console_031_the_text_of_the_first_tab_survives_a_reload", async () => {
  const before = await import("./documents");
  before.openProject("wardrobe");
  const [tab] = JSON.parse(localStorage.getItem("console:wardrobe:sql:tabs") ?? "[]");
  before.keepText(tab.id, "select 'typed'");

  vi.resetModules();
  const after = await import("./documents");
  after.openProject("wardrobe");
  const [again] = JSON.parse(localStorage.getItem("console:wardrobe:sql:tabs") ?? "[]");

  expect(again).toEqual(tab);
  expect(after.readText(again.id)).toBe("select 'typed'");
});
