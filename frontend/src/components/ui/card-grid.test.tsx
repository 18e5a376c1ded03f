import { act, render, screen, within } from "@testing-library/react";
import { expect, test } from "vitest";
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

test("only the cards near the viewport are rendered, wherever the page is scrolled to", () => {
  renderGrid();
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

  expect(shown()).toContain(901);
  scrollTo(50_000);
  expect(shown()).toContain(901);
  scrollTo(0);
});
