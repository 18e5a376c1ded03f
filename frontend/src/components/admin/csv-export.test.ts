// @vitest-environment node
import { expect, test, vi } from "vitest";
import { readAll } from "./csv-export";

test("all rows that match are read, in parts, and each once", async () => {
  const rows = Array.from({ length: 700 }, (_, index) => ({ id: `${index}` }));
  const read = vi.fn(async ({ from, to }: { from: number; to: number }) => {
    // A row that was made meanwhile has moved the others by one.
    const first = from === 0 ? 0 : from - 1;
    return { rows: rows.slice(first, to + 1), total: 700 };
  });
  const request = { term: "coat", sort: "name", ascending: true, filters: {}, from: 20, to: 39 };

  const found = await readAll(read, request);

  expect(found.map(({ id }) => id)).toEqual(rows.map(({ id }) => id));
  expect(read.mock.calls.map(([asked]) => asked)).toMatchObject([
    { term: "coat", from: 0, to: 499 },
    { term: "coat", from: 500, to: 999 },
  ]);
});
