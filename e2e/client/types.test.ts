// The stock CLI reads the running database, and the front end's types are what it prints.

import { execFile } from "node:child_process";
import { resolve } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { databaseUrl } from "../support/address.ts";

const run = promisify(execFile);
const tool = resolve(import.meta.dirname, "../../tools/types.mjs");

// The CLI is a program of 100 MB, which a machine with a cold disk starts slowly.
test("site_types database.types.ts is what the stock CLI prints for the running database", {
  timeout: 120_000,
}, async () => {
  const arguments_ = [tool, "--db-url", databaseUrl(), "--check"];

  await expect(run(process.execPath, arguments_)).resolves.toBeDefined();
});
