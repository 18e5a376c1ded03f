// Every option, method and header of supabase-js has a row in docs/compatibility.md. tools/newest-clients runs this with the newest version.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { listHeaders, listMethods, listOptions, packages } from "../support/client-sources.ts";

const page = readFileSync(join(import.meta.dirname, "../../docs/compatibility.md"), "utf8");

/** The rows of the table whose first cell is this. */
function readTable(first: string): { column: string; names: string[] }[] {
  const section = page.split("## What the newest clients send")[1]?.split("\n## ")[0] ?? "";
  const rows = section.split("\n").map((line) => line.split("|").map((cell) => cell.trim()));
  return rows
    .filter((cells) => cells[1] === first)
    .map((cells) => ({
      column: cells[2] as string,
      names: [...(cells[3] as string).matchAll(/`([\w-]+)`/g)].map((match) => match[1] as string),
    }));
}

/** Each name is in one row, and each row has names that are there. */
function compare(first: string, found: Set<string>) {
  const rows = readTable(first);
  const columns = ["honoured", "refused", "ignored", "client", "answer"];
  const listed = rows.flatMap((row) => row.names);

  expect(rows.map((row) => row.column).filter((column) => !columns.includes(column))).toEqual([]);
  expect([...found].filter((name) => !listed.includes(name)).sort(), "in no column").toEqual([]);
  expect(listed.filter((name) => !found.has(name)).sort(), "no longer there").toEqual([]);
  const repeated = listed.filter((name, index) => listed.indexOf(name) !== index);
  expect(repeated, "in two rows").toEqual([]);
}

describe.each(Object.keys(packages))("%s", (service) => {
  test("every option of the newest client is in one column of the table", () => {
    const options = listOptions(service);

    expect(options.size).toBeGreaterThan(5);
    compare(service, options);
  });

  test("every method of the newest client is in one column of the table", () => {
    const methods = listMethods(service);

    expect(methods.size).toBeGreaterThan(1);
    compare(`${service} methods`, methods);
  });
});

test("every header of the newest clients is in one column of the table", () => {
  const headers = Object.keys(packages).flatMap((service) => [...listHeaders(service)]);

  expect(headers).toContain("x-client-info");
  compare("headers", new Set(headers));
});
