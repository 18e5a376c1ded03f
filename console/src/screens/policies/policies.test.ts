import { expect, test } from "vitest";
import type { PolicyDraft } from "@/lib/sql/ddl/policies";
import {
  type AccessTable,
  type Cell,
  describeCell,
  filterTables,
  isOpen,
  orderRoles,
} from "./access-matrix";
import { toUnsaved } from "./queries";
import {
  changeOf,
  countChanges,
  describeVerdict,
  explainRow,
  explainUnsaved,
  parseRequestLine,
  type SimulatedRow,
  type Simulation,
  summarize,
} from "./simulation";

const closed: Cell = { select: "none", insert: "none", update: "none", delete: "none" };
const tableOf = (name: string, cells: Record<string, Cell>, schema = "public"): AccessTable => ({
  oid: name,
  schema,
  name,
  cells,
});

test("the matrix shows public first, and finds tables by schema and name", () => {
  const report = {
    roles: [],
    tables: [tableOf("users", {}, "auth"), tableOf("b", {}), tableOf("a", {})],
  };
  const all = { search: "", schema: "", onlyOpen: false };

  expect(filterTables(report, all).map(({ name }) => name)).toEqual(["a", "b", "users"]);
  expect(filterTables(report, { ...all, search: "AUTH.u" }).map(({ name }) => name)).toEqual([
    "users",
  ]);
  expect(filterTables(report, { ...all, schema: "public" })).toHaveLength(2);
});

test("a table is open when strangers read all of it or anybody outside writes it", () => {
  expect(isOpen(tableOf("t", { anon: closed, authenticated: { ...closed, select: "all" } }))).toBe(
    false,
  );
  expect(isOpen(tableOf("t", { anon: { ...closed, select: "all" } }))).toBe(true);
  expect(isOpen(tableOf("t", { authenticated: { ...closed, delete: "all" } }))).toBe(true);
  expect(isOpen(tableOf("t", { service_role: { ...closed, delete: "all" } }))).toBe(false);
  expect(orderRoles(["service_role", "app", "anon"])).toEqual(["anon", "service_role", "app"]);
  expect(describeCell("anon", "select", "policy")).toBe("anon select: rows that a policy allows");
});

const policy = {
  name: "own",
  command: "select",
  permissive: true,
  roles: [],
  applies: true,
  using: "true",
  check: null,
  unsaved: false,
  replaced: false,
};
const rowOf = (id: string, allowed: boolean, denied_by: string[] = []): SimulatedRow => ({
  id: { key: [id] },
  values: { id },
  verdicts: [
    { policy: 0, part: "using", command: "select", row: "old", verdict: allowed ? "pass" : "fail" },
  ],
  allowed,
  denied_by,
});
const simulationOf = (rows: SimulatedRow[]): Simulation => ({
  subject: { role: "anon", claims: null },
  steps: [],
  policies: [policy],
  rows,
  truth: { rows: [], count: rows.length, error: null },
  agrees: true,
  banners: [],
});

test("CONSOLE-080 a denied row names what denied it", () => {
  expect(explainRow(rowOf("1", true), [policy])).toBe("Allowed by own.");
  expect(explainRow(rowOf("1", false, ["own"]), [policy])).toBe("Denied by own.");
  const reason = "no permissive policy for SELECT applies to anon";
  expect(explainRow(rowOf("1", false, [reason]), [])).toBe(`Denied: ${reason}.`);
  expect(explainRow(rowOf("1", false), [])).toBe("Denied: no permissive policy lets it through.");
  expect(
    describeVerdict(policy, {
      policy: 0,
      part: "check",
      command: "update",
      row: "new",
      verdict: "null",
    }),
  ).toBe("own: WITH CHECK on the new row is null, which denies");
});

test("CONSOLE-084 rows that appear and vanish with an unsaved policy are told apart", () => {
  const rows = [
    { ...rowOf("1", true), allowed_unsaved: false, denied_by_unsaved: ["new"] },
    { ...rowOf("2", false), allowed_unsaved: true },
    { ...rowOf("3", true), allowed_unsaved: true },
    rowOf("4", true),
  ];

  expect(rows.map(changeOf)).toEqual(["vanishes", "appears", "stays", "stays"]);
  expect(countChanges(rows)).toEqual({ appears: 1, vanishes: 1, stays: 2 });
  expect(rows.map(explainUnsaved)).toEqual([
    "With the unsaved policy: Denied by new.",
    "With the unsaved policy: allowed.",
    "With the unsaved policy: allowed.",
    null,
  ]);
  expect(summarize(simulationOf(rows))).toBe("4 rows as anon");
});

test("a request is read from lines of logs and curl", () => {
  expect(parseRequestLine('{"time":1,"method":"get","path":"/rest/v1/items?a=eq.1"}')).toEqual({
    method: "GET",
    path: "/rest/v1/items?a=eq.1",
  });
  expect(parseRequestLine("curl 'http://127.0.0.1:54321/rest/v1/items?select=*'")).toEqual({
    method: "GET",
    path: "/rest/v1/items?select=*",
  });
  expect(parseRequestLine("DELETE /rest/v1/items?id=eq.1 204")?.method).toBe("DELETE");
  expect(parseRequestLine("GET /auth/v1/user")).toBeNull();
  expect(parseRequestLine("{broken")).toBeNull();
});

test("console_084_a_policy_that_is_being_renamed_is_simulated_in_the_place_of_the_saved_one", () => {
  const before: PolicyDraft = {
    table: { schema: "public", name: "notes" },
    name: "own",
    command: "select",
    isPermissive: true,
    roles: ["anon"],
    using: "true",
    check: "",
  };
  const draft = { ...before, name: "own notes", using: "false" };

  expect(toUnsaved({ before, draft })).toMatchObject({ name: "own", using: "false" });
  expect(toUnsaved({ before: null, draft })).toMatchObject({ name: "own notes", check: null });
});
