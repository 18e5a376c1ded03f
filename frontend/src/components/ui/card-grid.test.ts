import { expect, it } from "vitest";
import { columnsFor } from "./card-grid";

it.each([
  [358, 2],
  [704, 3],
  [1130, 4],
  [1500, 5],
])("shows a container of %i pixels in %i columns", (width, count) => {
  expect(columnsFor(width).count).toBe(count);
});
