import { expect, test, vi } from "vitest";
import type { ListRequest } from "@/lib/admin-list";
import { readAll } from "./csv-export";

const request = { term: "coat", sort: "name", ascending: true, filters: {}, from: 20, to: 39 };

/** A list in which one thing happens after a batch was read. */
function listWith(ids: readonly number[], happens: (rows: { id: string }[]) => void) {
  const rows = ids.map((id) => ({ id: `${id}` }));
  let isOver = false;
  const read = vi.fn(async ({ from, to }: ListRequest) => {
    const page = { rows: rows.slice(from, to + 1), total: rows.length };
    if (!isOver) happens(rows);
    isOver = true;
    return page;
  });
  return { rows, read };
}

const numbers = Array.from({ length: 700 }, (_, index) => index);

test("all rows that match are read, in parts, and each once", async () => {
  const { rows, read } = listWith(numbers, () => undefined);

  expect(await readAll(read, request)).toEqual(rows);
  expect(read.mock.calls.map(([asked]) => asked)).toMatchObject([
    { term: "coat", from: 0, to: 499 },
    { term: "coat", from: 499, to: 998 },
  ]);
});

test("a row is not left out because another one is deleted or made meanwhile", async () => {
  const deleted = listWith(numbers, (rows) => rows.shift());
  expect(await readAll(deleted.read, request)).toEqual(deleted.rows);
  expect(deleted.rows).toHaveLength(699);

  const made = listWith(numbers, (rows) => rows.unshift({ id: "new" }));
  expect(await readAll(made.read, request)).toEqual(made.rows);
});

test("a list that ends with a batch is read to its end, also when its last row is deleted", async () => {
  const { rows, read } = listWith(numbers.slice(0, 500), (list) => list.pop());
  expect(await readAll(read, request)).toEqual(rows);
});

test("a list that never stands still is not saved by halves", async () => {
  const rows = numbers.map((id) => ({ id: `${id}` }));
  const read = async ({ from, to }: ListRequest) => {
    rows.shift();
    return { rows: rows.slice(from, to + 1), total: rows.length };
  };
  await expect(readAll(read, request)).rejects.toThrow("Others are changing the list");
});
