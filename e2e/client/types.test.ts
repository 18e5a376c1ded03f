// The front end's types of the database are those of the running server.

import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { databaseUrl } from "../support/address.ts";
import { binary } from "../support/selvedge.ts";

const repository = resolve(import.meta.dirname, "../..");

test("site_types database.types.ts is what selvedge gen types prints for the running database", async () => {
  const words = ["gen", "types", "--schema", "public", "--project", `${repository}/sql/app`];
  const { stdout } = await promisify(execFile)(binary(), [...words, "--db-url", databaseUrl()]);

  const file = await readFile(`${repository}/frontend/src/lib/database.types.ts`, "utf8");
  expect(stdout).toBe(file);
});
