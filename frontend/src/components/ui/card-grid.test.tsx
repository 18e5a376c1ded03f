import { act, render, screen, within } from "@testing-library/react";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { columnsFor } from "./card-columns";
import { CardGrid } from "./card-grid";

test.each([
  [358, 2],
  [704, 3],
  [1130, 4],
  [1500, 5],
])("shows a container of %i pixels in %i columns", (width, count) => {
  expect(columnsFor(width).count).toBe(count);
});

/** What the grids have asked the browser to call when it has laid out the page. */
const calls: (() => void)[] = [];
const layOut = () =>
  act(() => {
    for (const call of calls) call();
  });

beforeEach(() => {
  calls.length = 0;
  class Observer {
    constructor(call: () => void) {
      calls.push(call);
    }
    observe() {}
    disconnect() {}
  }
  vi.stubGlobal("ResizeObserver", Observer);
});

afterEach(() => {
  vi.unstubAllGlobals();
});

// 4 columns at the width that setup.ts reports. The window of jsdom is 768 pixels high.
const shape = { ratio: 5 / 4, captionHeight: 88 };
const rows = Array.from({ length: 1000 }, (_, index) => ({ id: `row-${index}` }));

function renderGrid(pinnedId?: string) {
  render(
    <CardGrid rows={rows} shape={shape} label="Outfits" pinnedId={pinnedId}>
      {(row) => row.id}
    </CardGrid>,
  );
}

function scrollTo(y: number) {
  act(() => {
    Object.defineProperty(window, "scrollY", { value: y, configurable: true });
    window.dispatchEvent(new Event("scroll"));
  });
}

const shown = () =>
  within(screen.getByRole("list"))
    .getAllByRole("listitem")
    .map((item) => Number(item.getAttribute("aria-posinset")));

test("a rendering waits for no layout: until the browser has made one, the stylesheet places the first cards", () => {
  const measured = vi.spyOn(Element.prototype, "getBoundingClientRect");
  renderGrid();
  expect(shown()).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]);
  expect(screen.getAllByRole("listitem")[0]).toHaveStyle({ paddingBottom: "calc(125% + 88px)" });
  expect(measured).not.toHaveBeenCalled();

  layOut();
  expect(measured).toHaveBeenCalled();
  // (1100 - 3 × 20) / 4 pixels.
  expect(screen.getAllByRole("listitem")[1]).toHaveStyle({ left: "280px", width: "260px" });
});

test("only the cards near the viewport are rendered, wherever the page is scrolled to", () => {
  renderGrid();
  layOut();
  expect(shown()[0]).toBe(1);
  expect(shown().length).toBeLessThan(30);

  scrollTo(50_000);
  expect(shown()[0]).toBeGreaterThan(400);
  expect(shown().length).toBeLessThan(30);
  expect(screen.getAllByRole("listitem")[0]).toHaveAttribute("aria-setsize", "1000");

  scrollTo(0);
  expect(shown()[0]).toBe(1);
});

test("a pinned card stays, far away from the viewport", () => {
  renderGrid("row-900");
  layOut();

  expect(shown()).toContain(901);
  scrollTo(50_000);
  expect(shown()).toContain(901);
  scrollTo(0);
});
