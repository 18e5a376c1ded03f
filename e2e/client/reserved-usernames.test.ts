// Reserved usernames: the list in the database, the list in the site, and the paths that the site really uses must agree.

import { readdirSync, readFileSync } from "node:fs";
import { resolve } from "node:path";
import { expect, test } from "vitest";
import { reservedUsernames } from "../../frontend/src/lib/reserved-usernames.ts";
import { expectData } from "../support/catalogue.ts";
import { visitor } from "../support/clients.ts";

const frontend = resolve(import.meta.dirname, "../../frontend");

async function reservedByDatabase(): Promise<string[]> {
  return expectData(await visitor().rpc("reserved_usernames"));
}

test("the database and the site reserve the same usernames", async () => {
  expect([...reservedUsernames].sort()).toEqual((await reservedByDatabase()).sort());
});

test("every static first segment of the router is reserved", async () => {
  const router = readFileSync(resolve(frontend, "src/app/router.tsx"), "utf8");
  const segments = [...router.matchAll(/path: "([^"]+)"/g)]
    .map(([, path = ""]) => path.replace(/^\//, "").split("/")[0] ?? "")
    .filter((segment) => segment !== "*" && !segment.startsWith(":"));

  expect(segments).toContain("discovery");
  const reserved = await reservedByDatabase();
  expect(segments.filter((segment) => !reserved.includes(segment))).toEqual([]);
});

test("every first segment of the API's paths is reserved", async () => {
  const source = (path: string): string =>
    readFileSync(resolve(frontend, "../crates/server/src", path), "utf8");
  const routes = ["services/worker.rs", "http/mod.rs"].map(source).join("\n");
  const segments = [...routes.matchAll(/(?:scope|route|resource)\(\s*"\/([a-z-]+)/g)].map(
    ([, segment = ""]) => segment,
  );

  for (const known of ["rest", "generator", "health", "metrics"]) {
    expect(segments).toContain(known);
  }
  const reserved = await reservedByDatabase();
  expect(segments.filter((segment) => !reserved.includes(segment))).toEqual([]);
});

test("every file and folder of the built site is reserved", async () => {
  const files = readdirSync(resolve(frontend, "dist")).filter((name) => !/\.(br|gz)$/.test(name));

  expect(files).toContain("index.html");
  const reserved = await reservedByDatabase();
  expect(files.filter((name) => !reserved.includes(name.toLowerCase()))).toEqual([]);
});

test("reserved words are refused as usernames in every spelling", async () => {
  for (const word of ["discovery", "Discovery", "ASSETS"]) {
    const available = expectData(await visitor().rpc("username_available", { candidate: word }));
    expect(available, word).toBe(false);
  }
});
