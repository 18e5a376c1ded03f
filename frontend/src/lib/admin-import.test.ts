import { afterEach, expect, test, vi } from "vitest";
import { importRows } from "@/lib/admin-import";

afterEach(() => vi.unstubAllGlobals());

test("what was imported before a batch fails is told with the failure", async () => {
  let batches = 0;
  vi.stubGlobal("fetch", async (_: RequestInfo | URL, init?: RequestInit) => {
    batches += 1;
    const { entries } = JSON.parse(String(init?.body));
    if (batches > 1) return Response.json({ code: "57014", message: "Too slow." }, { status: 500 });
    return Response.json(
      entries.map((_: unknown, place: number) => ({
        place,
        error: null,
        was_there: place === 7 || place === 9,
        stored_name: place === 7 ? "Color 7" : place === 9 ? "Crimson" : null,
      })),
    );
  });
  const rows = Array.from({ length: 700 }, (_, index) => ({ name: `Color ${index}` }));

  expect(await importRows("styles", rows, () => undefined)).toEqual({
    imported: 498,
    present: [
      { number: 8, name: "Color 7", renamed: null },
      { number: 10, name: "Color 9", renamed: "Crimson" },
    ],
    refused: [],
    left: 200,
    failure: expect.any(String),
  });
});
