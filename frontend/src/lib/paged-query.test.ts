// @vitest-environment node
import { describe, expect, it } from "vitest";
import { pageSize } from "./page-size";
import { buildPage, joinPages } from "./paged-query";

const row = (id: string) => ({ id });

describe("buildPage", () => {
  it("expects another page only after a full one", () => {
    const full = Array.from({ length: pageSize }, (_, index) => row(`${index}`));
    expect(buildPage(full, 24).nextOffset).toBe(48);
    expect(buildPage(full.slice(1), 24).nextOffset).toBeUndefined();
  });

  it("counts hidden rows as read, but does not show them", () => {
    const read = [row("a"), ...Array.from({ length: pageSize - 1 }, () => null)];
    expect(buildPage(read, 0)).toEqual({ rows: [row("a")], nextOffset: pageSize });
  });
});

describe("joinPages", () => {
  it("shows a row once when it moved onto the next page", () => {
    const pages = [buildPage([row("a"), row("b")], 0), buildPage([row("b"), row("c")], 2)];
    expect(joinPages(pages).map(({ id }) => id)).toEqual(["a", "b", "c"]);
  });
});
