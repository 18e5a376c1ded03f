// @vitest-environment node
import { expect, test } from "vitest";
import { advise } from "./plan-advice";
import { listNodes, misjudgement, readPlan } from "./plan-tree";

/** A node that ran once; `rest` overrides its members. */
const node = (type: string, rest: Record<string, unknown> = {}) => ({
  "Node Type": type,
  "Total Cost": 100,
  "Plan Rows": 10,
  "Actual Rows": 10,
  "Actual Loops": 1,
  "Actual Total Time": 1,
  ...rest,
});
const planOf = (root: Record<string, unknown>, rest: Record<string, unknown> = {}) => {
  const plan = readPlan([{ Plan: root, "Execution Time": 100, ...rest }]);
  if (plan === null) throw new Error("the fixture is no plan");
  return plan;
};
const titlesOf = (root: Record<string, unknown>, rest = {}) =>
  advise(planOf(root, rest)).map(({ title }) => title);

test("CONSOLE-095 a node's own time and pages exclude those of its children", () => {
  const plan = planOf(
    node("Nested Loop", {
      "Actual Total Time": 90,
      "Join Type": "Left",
      "Shared Hit Blocks": 50,
      "Shared Read Blocks": 9,
      Plans: [
        node("Seq Scan", {
          "Actual Total Time": 30,
          "Relation Name": "items",
          Schema: "public",
          Alias: "i",
          "Shared Hit Blocks": 20,
          "Shared Read Blocks": 0,
        }),
        node("Index Scan", {
          "Actual Total Time": 0.5,
          "Actual Loops": 100,
          "Actual Rows": 2,
          "Index Name": "users_pkey",
          "Relation Name": "users",
          Schema: "auth",
          "Shared Hit Blocks": 10,
          "Shared Read Blocks": 4,
        }),
      ],
    }),
  );
  const [root, scan, index] = listNodes(plan.root);

  expect([root?.title, scan?.target, index?.target]).toEqual([
    "Nested Loop Left Join",
    "items as i",
    "auth.users by users_pkey",
  ]);
  expect([root?.selfMs, scan?.selfMs, index?.totalMs]).toEqual([10, 30, 50]);
  expect(index?.actualRows).toBe(200);
  expect(root?.buffers).toEqual({ hit: 20, read: 5, temp: 0 });
  expect(scan?.share).toBeCloseTo(1 / 3);
});

test("CONSOLE-095 without ANALYZE the shares are those of cost and no rows are claimed", () => {
  const bare = { "Node Type": "Seq Scan", "Total Cost": 40, "Plan Rows": 7 };
  const plan = readPlan([{ Plan: { "Node Type": "Sort", "Total Cost": 100, Plans: [bare] } }]);

  expect([plan?.wasRun, plan?.root.actualRows, plan?.root.share]).toEqual([false, null, 0.6]);
  expect(plan && misjudgement(plan.root)).toBeNull();
  expect(plan && advise(plan)).toEqual([]);
});

test("CONSOLE-095 the advice names what wastes time", () => {
  const scan = node("Seq Scan", {
    "Relation Name": "items",
    "Rows Removed by Filter": 99_990,
    Filter: "(brand = 'x')",
  });
  expect(titlesOf(scan)).toEqual(["100,000 rows of items were read to keep 10"]);
  expect(
    titlesOf(node("Seq Scan", { "Relation Name": "items", "Plan Rows": 1, "Actual Rows": 5000 })),
  ).toEqual(["1 rows of items were expected, 5,000 came"]);
  expect(titlesOf(node("Sort", { "Sort Space Type": "Disk", "Sort Space Used": 8192 }))).toEqual([
    "The sort wrote 8.4 MB to disk",
  ]);
  expect(titlesOf(node("Hash", { "Hash Batches": 4 }))).toHaveLength(1);
  expect(titlesOf(node("Result"), { JIT: { Timing: { Total: 80 } } })).toEqual([
    "Compiling took 80 ms of 100",
  ]);
});

test("CONSOLE-095 a policy's function that runs per row is found", () => {
  const scan = node("Seq Scan", {
    "Relation Name": "items",
    "Actual Rows": 9000,
    "Plan Rows": 9000,
    Filter: "(owner = auth.uid())",
  });

  expect(titlesOf(scan)).toEqual(["auth.uid() runs once per row of items"]);
  expect(titlesOf({ ...scan, Filter: "(owner = $0)" })).toEqual([]);
});

test("what is no plan reads as none", () => {
  for (const document of [null, [], {}, [{}], "text", [{ Plan: 1 }]]) {
    expect(readPlan(document)).toBeNull();
  }
});
