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
      entries.map((_: unknown, place: number) => ({ place, error: null, was_there: place === 7 })),
    );
  });
  const rows = Array.from({ length: 700 }, (_, index) => ({ name: `Color ${index}` }));

  expect(await importRows("styles", rows, () => undefined)).toEqual({
    imported: 499,
    present: 1,
    refused: [],
    left: 200,
    failure: expect.any(String),
  });
});
