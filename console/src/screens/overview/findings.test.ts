import { expect, test } from "vitest";
import type { Finding } from "./api";
import { connectLines } from "./connect";
import { groupFindings } from "./findings";

function finding(name: string, level: Finding["level"], key: string): Finding {
  const object = { schema: "public", name: key, kind: "table" };
  return { name, level, title: name, why: "", object, fix: null, key };
}

const findings = [
  finding("unused_index", "info", "a"),
  finding("rls_disabled", "error", "b"),
  finding("unused_index", "info", "c"),
  finding("definer", "warn", "d"),
];

test("CONSOLE-042 the gravest kinds come first, and muted findings are left out", () => {
  const names = (shown: ReturnType<typeof groupFindings>) =>
    shown.map((group) => [group.name, group.findings.map(({ key }) => key).join("")]);

  expect(names(groupFindings(findings, ["d", "a"], false))).toEqual([
    ["rls_disabled", "b"],
    ["unused_index", "c"],
  ]);
  expect(names(groupFindings(findings, ["d", "a"], true))).toHaveLength(3);
});

test("CONSOLE-100 five lines connect an app, and names cannot break out of their quotes", () => {
  const lines = connectLines("http://127.0.0.1:54321", "sb_publishable_x", 'it"ems').split("\n");

  expect(lines).toHaveLength(5);
  expect(lines[2]).toContain('from("it\\"ems")');
});
