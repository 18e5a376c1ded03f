// Writes frontend/src/lib/database.types.ts: the types that the stock Supabase CLI prints for the running database.
//
//   node tools/types.mjs [--db-url postgresql://user:password@host:port/database] [--check]
//
// Without --db-url it reads the database of `make run`. With --check it writes nothing and fails when the file is stale;
// `make test` does so (e2e/client/types.test.ts), so a migration that changes the schema needs this command.

import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";

const root = resolve(import.meta.dirname, "..");
const file = join(root, "frontend/src/lib/database.types.ts");
const header =
  "// Written by `node tools/types.mjs` from the running database; do not edit. See lib/database.ts for what the site adds.\n";

/** The types of schema `public` of this database, formatted like the rest of the front end. */
function generateTypes(databaseUrl) {
  const cli = join(root, "e2e/node_modules/.bin/supabase");
  const printed = execFileSync(
    cli,
    ["gen", "types", "--lang", "typescript", "--db-url", databaseUrl, "--schema", "public"],
    { cwd: root, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"], env: cliEnvironment() },
  );
  const start = printed.indexOf("export type Json");
  if (start < 0) throw new Error(`The CLI printed no types:\n${printed}`);
  return execFileSync(
    join(root, "frontend/node_modules/.bin/biome"),
    ["format", "--stdin-file-path", "src/lib/database.types.ts"],
    { cwd: join(root, "frontend"), encoding: "utf8", input: header + printed.slice(start) },
  );
}

/** The CLI sends usage statistics unless it is told not to. */
function cliEnvironment() {
  return { ...process.env, SUPABASE_TELEMETRY_DISABLED: "1", DO_NOT_TRACK: "1" };
}

const flag = process.argv.indexOf("--db-url");
const databaseUrl =
  flag < 0 ? "postgresql://postgres:postgres@127.0.0.1:54322/postgres" : process.argv[flag + 1];
const types = generateTypes(databaseUrl);
if (!process.argv.includes("--check")) {
  writeFileSync(file, types);
} else if (readFileSync(file, "utf8") !== types) {
  process.stderr.write(`${file} is stale: run \`node tools/types.mjs\` against a running server.\n`);
  process.exitCode = 1;
}
