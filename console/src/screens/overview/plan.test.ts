// @vitest-environment node
import { expect, test } from "vitest";
import { flattenPlan, summarizeStatement } from "./plan";

test("CONSOLE-041 a plan is read from the top, with the index and the condition of each node", () => {
  const answer = [
    {
      Plan: {
        "Node Type": "Limit",
        "Total Cost": 8.3,
        "Plan Rows": 1,
        Plans: [
          {
            "Node Type": "Index Scan",
            "Relation Name": "items",
            "Index Name": "items_pkey",
            "Index Cond": "(id = $1)",
            "Total Cost": 8.2,
            "Plan Rows": 1,
          },
        ],
      },
    },
  ];

  expect(flattenPlan(answer)).toEqual([
    { depth: 0, title: "Limit", condition: null, cost: 8.3, rows: 1 },
    {
      depth: 1,
      title: "Index Scan using items_pkey on items",
      condition: "(id = $1)",
      cost: 8.2,
      rows: 1,
    },
  ]);
  expect([flattenPlan(null), flattenPlan("x"), flattenPlan([])]).toEqual([[], [], []]);
});

test("CONSOLE-041 a statement is summed up without the comments in front of it", () => {
  const statement = "-- Lists items.\n-- Slow.\n/* hint */ select *\n  from items -- all";

  expect(summarizeStatement(statement)).toBe("select * from items -- all");
  expect(summarizeStatement("-- only a comment")).toBe("-- only a comment");
});
