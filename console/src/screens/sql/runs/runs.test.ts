import { expect, test, vi } from "vitest";
import { readNdjson } from "./ndjson";
import {
  applyEvent,
  createRun,
  describeOutcome,
  markCancelled,
  markLost,
  nameResult,
  type RunEvent,
} from "./run-model";
import { startRun } from "./run-store";

function runOf(...events: RunEvent[]) {
  const run = createRun("r1", "select 1; select 2", 0, 0);
  for (const event of events) applyEvent(run, event);
  return run;
}
const end = (committed: boolean): RunEvent => ({ event: "end", committed, elapsed_ms: 3 });
const done = (index: number, tag: string, rows: number): RunEvent => ({
  event: "done",
  index,
  tag,
  rows,
  elapsed_ms: 1,
});

test("CONSOLE-091 each statement has a result of its own, in the order they came", () => {
  const run = runOf(
    { event: "statement", index: 0, start: 0, end: 8 },
    { event: "columns", index: 0, columns: [{ name: "a", type: "int4" }] },
    { event: "rows", index: 0, rows: [["1"], [null]] },
    { event: "rows", index: 0, rows: [["3"]] },
    done(0, "SELECT 3", 3),
    { event: "statement", index: 1, start: 10, end: 18 },
    done(1, "CREATE TABLE", 0),
    done(2, "UPDATE 7", 0),
    end(true),
  );

  expect(run.results.map(nameResult)).toEqual(["SELECT 3", "CREATE TABLE", "UPDATE 7"]);
  expect(run.results[0]?.rows).toEqual([["1"], [null], ["3"]]);
  expect([run.status, describeOutcome(run)]).toEqual(["done", "Done"]);
});

test("CONSOLE-091 a failure says what happened to the statements before it", () => {
  const fault: RunEvent = { event: "error", index: 1, code: "42P01", message: "no table" };

  const rolledBack = runOf(done(0, "INSERT 0 1", 1), fault, end(false));
  const kept = runOf(done(0, "INSERT 0 1", 1), fault, end(true));

  expect(describeOutcome(rolledBack)).toBe("Failed. Everything was rolled back.");
  expect(describeOutcome(kept)).toBe("Statement 2 failed. Those before it are kept.");
  expect(rolledBack.results.map(nameResult)).toEqual(["INSERT 1", "Error"]);
});

test("CONSOLE-093 a cancelled run stays cancelled when PostgreSQL's error for it arrives", () => {
  const run = runOf({ event: "statement", index: 0, start: 0, end: 8 });
  markCancelled(run);
  applyEvent(run, { event: "error", index: 0, code: "57014", message: "canceling statement" });
  applyEvent(run, end(false));

  expect(describeOutcome(run)).toBe("Cancelled. Nothing was changed.");
});

test("console_031_a_cancelled_run_whose_connection_broke_claims_nothing", () => {
  const run = runOf({ event: "statement", index: 0, start: 0, end: 8 });
  markCancelled(run);
  expect(describeOutcome(run)).toBe("Cancelling");
  markLost(run);

  expect(run.status).toBe("cancelled");
  expect(describeOutcome(run)).toContain("Check whether the changes are there");
});

test.each([502, 503, 504])(
  "console_031_a_proxys_%i_leaves_open_what_became_of_the_statements",
  async (status) => {
    vi.stubGlobal("fetch", async () => new Response("<h1>Bad Gateway</h1>", { status }));
    const subject = { kind: "admin" } as const;
    const run = await startRun("t", {
      text: "delete from t",
      offset: 0,
      subject,
      transaction: "autocommit",
    });
    vi.unstubAllGlobals();

    expect(describeOutcome(run)).toContain("Check whether the changes are there");
  },
);

test("CONSOLE-173 values that were cut are known by their place in the whole result", () => {
  const rows = (count: number): string[][] => Array.from({ length: count }, () => ["x"]);
  const run = runOf(
    { event: "rows", index: 0, rows: rows(2) },
    { event: "rows", index: 0, rows: rows(2), cuts: [{ row: 1, column: 0, bytes: 99 }] },
  );

  expect([...(run.results[0]?.cuts ?? [])]).toEqual([["3:0", 99]]);
});

test("CONSOLE-091 an error of the commit stands behind the results", () => {
  const fault: RunEvent = { event: "error", index: null, code: "commit", message: "deferred" };
  const run = runOf(done(0, "INSERT 0 1", 1), fault, end(false));

  expect(run.results.map(nameResult)).toEqual(["INSERT 1", "Error"]);
});

test("CONSOLE-031 a broken connection claims nothing about the transaction", () => {
  const run = runOf({ event: "statement", index: 0, start: 0, end: 8 });
  markLost(run);

  expect(describeOutcome(run)).toContain("Check whether the changes are there");
});

test("CONSOLE-173 endless notices are cut", () => {
  const notices = Array.from({ length: 1500 }, (): RunEvent => {
    return { event: "notice", severity: "NOTICE", message: "again" };
  });

  expect(runOf(...notices).messages).toHaveLength(1001);
});

test("lines are read across chunks that cut them anywhere, even inside a character", async () => {
  const bytes = new TextEncoder().encode('{"a":"ä"}\n\n{"a":"😀"}\n{"a":1}');
  for (const size of [1, 3, 7, 100]) {
    const body = new ReadableStream<Uint8Array>({
      start(controller) {
        for (let at = 0; at < bytes.length; at += size)
          controller.enqueue(bytes.slice(at, at + size));
        controller.close();
      },
    });
    const found: unknown[] = [];
    for await (const documents of readNdjson(body)) found.push(...documents);
    expect(found).toEqual([{ a: "ä" }, { a: "😀" }, { a: 1 }]);
  }
});
