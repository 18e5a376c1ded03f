// The stock CLI works on a running project: everything of it that takes a database URL or the API, and needs no Docker.

import { execFile } from "node:child_process";
import { mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";
import { client, password, serviceKey } from "../support/clients.ts";
import { binary, type Selvedge, startSelvedge } from "../support/selvedge.ts";

const program = resolve(import.meta.dirname, "../node_modules/.bin/supabase");
// The CLI is a program of 140 MB, which a machine with a cold disk starts slowly.
const timeout = 120_000;
const firstMigration = `
create table public.notes (
  id bigint generated always as identity primary key,
  body text not null,
  owner uuid references auth.users
);
alter table public.notes enable row level security;
create policy "own notes" on public.notes for select using (owner = auth.uid());
`;
let folder: string;
let server: Selvedge;

/** Runs the CLI in the project's folder; returns what it prints to standard output. */
async function supabase(...args: string[]): Promise<string> {
  const { stdout } = await promisify(execFile)(program, [...args, "--workdir", folder], {
    env: {
      ...process.env,
      // Without these it looks for a newer version and sends usage statistics.
      SUPABASE_TELEMETRY_DISABLED: "1",
      DO_NOT_TRACK: "1",
      // The development server offers no TLS, and the CLI would say so in its standard output.
      PGSSLMODE: "disable",
    },
  });
  return stdout;
}

/** Runs a command of the CLI on the project's database. */
function onDatabase(...args: string[]): Promise<string> {
  return supabase(...args, "--db-url", server.databaseUrl);
}

async function selectRows<Row>(sql: string): Promise<Row[]> {
  const printed = await onDatabase(
    "db",
    "query",
    sql,
    "--read-only",
    "-o",
    "json",
    "--agent",
    "no",
  );
  return JSON.parse(printed) as Row[];
}

function addMigration(name: string, sql: string): Promise<void> {
  return writeFile(join(folder, "supabase/migrations", name), sql);
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "selvedge-stock-cli-"));
  await promisify(execFile)(program, ["init", "--workdir", folder, "--yes"]);
  await mkdir(join(folder, "supabase/migrations"));
  await mkdir(join(folder, "supabase/images"));
  await addMigration("20240101000000_notes.sql", firstMigration);
  await writeFile(
    join(folder, "supabase/seed.sql"),
    "insert into public.notes (body) values ('seeded');",
  );
  await writeFile(join(folder, "supabase/images/hem.txt"), "a hem");
  server = await startSelvedge(folder);
  const path = join(folder, "supabase/config.toml");
  const config = await readFile(path, "utf8");
  // The commands for objects take the address of the API from the project's configuration.
  await writeFile(
    path,
    `${config.replace(/^port = 54321$/m, `port = ${new URL(server.apiUrl).port}`)}
[storage.buckets.images]
public = false
objects_path = "./images"
`,
  );
}, timeout);

afterAll(async () => {
  await server?.stop();
  await rm(folder, { recursive: true, force: true });
});

test("cli_stock migrations are listed, applied, repaired and fetched", { timeout }, async () => {
  expect(await onDatabase("migration", "list")).toMatch(/`20240101000000` \| `20240101000000`/);

  await addMigration("20240102000000_likes.sql", "create table public.likes (id int primary key);");
  await onDatabase("migration", "up", "--yes");
  await addMigration(
    "20240103000000_shares.sql",
    "create table public.shares (id int primary key);",
  );
  await onDatabase("db", "push", "--yes");
  const versions = "select version from supabase_migrations.schema_migrations order by 1";
  expect(await selectRows(versions)).toEqual(
    ["20240101000000", "20240102000000", "20240103000000"].map((version) => ({ version })),
  );

  await onDatabase("migration", "repair", "20240103000000", "--status", "reverted", "--yes");
  expect(await selectRows(versions)).toHaveLength(2);
  await onDatabase("migration", "repair", "20240103000000", "--status", "applied", "--yes");
  await rm(join(folder, "supabase/migrations"), { recursive: true });
  await onDatabase("migration", "fetch", "--yes");
  expect(await readdir(join(folder, "supabase/migrations"))).toEqual([
    "20240101000000_notes.sql",
    "20240102000000_likes.sql",
    "20240103000000_shares.sql",
  ]);
});

test("cli_stock db reset keeps Auth and Storage, and builds the project again", {
  timeout,
}, async () => {
  const admin = client(serviceKey, server.apiUrl);
  const user = { email: "before@example.com", password, email_confirm: true };
  expect((await admin.auth.admin.createUser(user)).error).toBeNull();

  await onDatabase("db", "reset", "--yes");

  expect(await selectRows("select body from public.notes")).toEqual([{ body: "seeded" }]);
  expect((await admin.auth.admin.listUsers()).data.users).toEqual([]);
  const again = await admin.auth.admin.createUser({ ...user, email: "after@example.com" });
  expect(again.error).toBeNull();
  expect((await admin.storage.listBuckets()).error).toBeNull();
  expect((await admin.from("notes").select("body")).data).toEqual([{ body: "seeded" }]);
});

test("cli_stock migration down goes back by one migration", { timeout }, async () => {
  await onDatabase("migration", "down", "--last", "1", "--yes");
  expect(await selectRows("select to_regclass('public.shares') as found")).toEqual([
    { found: null },
  ]);

  await onDatabase("migration", "up", "--yes");
  expect(await selectRows("select to_regclass('public.shares') as found")).toEqual([
    { found: "shares" },
  ]);
});

test("cli_stock types, advice and differences of the schema are printed", { timeout }, async () => {
  const types = await onDatabase("gen", "types", "--lang", "typescript", "--schema", "public");
  expect(types).toContain("export type Database");
  expect(types).toMatch(/notes:|"notes":/);

  const advice = JSON.parse(await onDatabase("db", "advisors")) as { name: string }[];
  expect(advice.map(({ name }) => name)).toContain("auth_rls_initplan");

  const same = await supabase(
    "db",
    "diff",
    "--from",
    server.databaseUrl,
    "--to",
    server.databaseUrl,
  );
  expect(same).not.toMatch(/\b(create|alter|drop) /i);
});

test("cli_stock selvedge db diff saves as a migration what the migrations lack", {
  timeout,
}, async () => {
  await symlink(resolve(import.meta.dirname, "../node_modules"), join(folder, "node_modules"));
  await onDatabase("db", "query", "alter table public.notes add column colour text", "--yes");

  const args = ["db", "diff", "-f", "colour", "--db-url", server.databaseUrl, "--project", folder];
  await promisify(execFile)(binary(), args);

  const migrations = join(folder, "supabase/migrations");
  const file = (await readdir(migrations)).find((name) => name.endsWith("_colour.sql"));
  const statements = await readFile(join(migrations, file ?? ""), "utf8");
  expect(statements).toMatch(/ALTER TABLE "?public"?\."?notes"?\s+ADD COLUMN "?colour"? text/i);
  expect(statements).not.toMatch(/drop table|create table/i);
});

test("cli_stock the database is inspected", { timeout }, async () => {
  const reports = join(folder, "reports");
  // Runs every query of `inspect db`, and ends with an error when one of them does.
  await onDatabase("inspect", "report", "--output-dir", reports);

  const [day] = await readdir(reports);
  const written = await readdir(join(reports, day ?? ""));
  expect(written.length).toBeGreaterThan(10);
  const tables = await readFile(join(reports, day ?? "", "table_stats.csv"), "utf8");
  expect(tables).toContain("public.notes");
});

test("cli_stock buckets are seeded, and objects copied, moved and removed", {
  timeout,
}, async () => {
  const copy = join(folder, "copy.txt");
  await supabase("seed", "buckets", "--experimental");
  await supabase("storage", "cp", "ss:///images/hem.txt", copy, "--experimental");
  expect(await readFile(copy, "utf8")).toBe("a hem");

  await supabase("storage", "cp", copy, "ss:///images/seam.txt", "--experimental");
  await supabase(
    "storage",
    "mv",
    "ss:///images/seam.txt",
    "ss:///images/cuff.txt",
    "--experimental",
  );
  await supabase("storage", "rm", "ss:///images/hem.txt", "--experimental", "--yes");
  const listed = await supabase("storage", "ls", "ss:///images", "--recursive", "--experimental");

  expect(listed.trim()).toBe("/images/cuff.txt");
});
