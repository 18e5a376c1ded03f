// @selvedge/stack under Vitest: every test has a copy of the project for itself, and nothing of it is left afterwards.

import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Stack } from "../../packages/stack/src/index.ts";
import { client } from "../support/clients.ts";
import { binary } from "../support/selvedge.ts";
import { until } from "../support/until.ts";
import { copyProject, type ProjectCopy } from "./project.ts";

const run = promisify(execFile);

let project: ProjectCopy;

beforeAll(async () => {
  project = await copyProject();
});
afterAll(() => project[Symbol.asyncDispose]());

/** Runs a statement in a stack's database as `postgres`. */
async function query(dbUrl: string, sql: string): Promise<Record<string, unknown>[]> {
  const arguments_ = ["db", "query", "--db-url", dbUrl, "-o", "json", sql];
  const { stdout } = await run(binary(), ["--project", project.folder, ...arguments_]);
  return JSON.parse(stdout) as Record<string, unknown>[];
}

const clientOf = (stack: Stack) => client(stack.secretKey, stack.url);

const bodiesOf = async (stack: Stack): Promise<string[]> => {
  const { data } = await clientOf(stack).from("notes").select("body").throwOnError();
  return data.map((note) => String(note.body));
};

test("stacks side by side have their own rows, objects, users and keys", async () => {
  await using first = await project.createStack();
  await using second = await project.createStack();
  const ours = clientOf(first);

  await ours.from("notes").insert({ body: "of the first" }).throwOnError();
  const uploaded = await ours.storage.from("files").upload("own.txt", "mine");
  const replaced = await ours.storage
    .from("files")
    .upload("template.txt", "replaced", { upsert: true });
  const user = { email: "ada@example.com", password: "a long password", email_confirm: true };
  const created = await ours.auth.admin.createUser(user);

  expect([uploaded.error, replaced.error, created.error]).toEqual([null, null, null]);
  expect(await bodiesOf(first)).toEqual(["from the seed", "of the first"]);
  expect(await bodiesOf(second)).toEqual(["from the seed"]);
  const files = clientOf(second).storage.from("files");
  const { data: listed } = await files.list();
  expect(listed?.map((file) => file.name)).toEqual(["template.txt"]);
  const { data: file } = await files.download("template.txt");
  expect(await file?.text()).toBe("a file of the template\n");
  const { data: users } = await clientOf(second).auth.admin.listUsers();
  expect(users.users).toEqual([]);
  const stranger = client(first.secretKey, second.url);
  expect((await stranger.auth.admin.listUsers()).error).not.toBeNull();
});

test("a stack streams the changes of its own database", async () => {
  await using first = await project.createStack();
  await using second = await project.createStack();
  const seen: string[] = [];
  const ours = clientOf(first);
  const channel = ours
    .channel("notes")
    .on("postgres_changes", { event: "INSERT", schema: "public", table: "notes" }, (change) =>
      seen.push(String(change.new.body)),
    );
  let isListening = false;
  channel.on("system", {}, ({ status }) => {
    isListening = status === "ok";
  });
  channel.subscribe();
  await until(() => isListening, "the subscription");

  await clientOf(second).from("notes").insert({ body: "of the second" }).throwOnError();
  await ours.from("notes").insert({ body: "of the first" }).throwOnError();
  await until(() => seen.length > 0, "the change");

  expect(seen).toEqual(["of the first"]);
  await ours.removeAllChannels();
});

test("a copy has the settings, the rights and the jobs of the project's database", async () => {
  await using stack = await project.createStack();
  const [row] = await query(
    stack.dbUrl,
    `select current_setting('intervalstyle') as interval_style,
       (select datdba::regrole::text from pg_database where datname = current_database()) as owner,
       has_database_privilege('postgres', current_database(), 'create') as may_create,
       (select setconfig[1] from pg_db_role_setting join pg_database d on d.oid = setdatabase
         where setrole = 'authenticated'::regrole and datname = current_database()) as setting,
       (select database = current_database() from cron.job) as runs_here`,
  );
  expect(row).toEqual({
    interval_style: "iso_8601",
    owner: "postgres",
    may_create: true,
    setting: "statement_timeout=7s",
    runs_here: true,
  });
});

test("a changed migration makes a new template, and one that fails is quoted", async () => {
  await using changed = await copyProject();
  const migration = join(changed.folder, "migrations/20260102000000_more.sql");

  await writeFile(migration, "create table more (id int);\nalter table nowhere add column a int;");
  await expect(changed.createStack()).rejects.toThrow(/20260102000000_more[\s\S]*nowhere/);
  await writeFile(migration, "insert into notes (body) values ('of the migration');");
  await using stack = await changed.createStack();

  expect(await bodiesOf(stack)).toEqual(["of the migration", "from the seed"]);
});

test("nothing is left of a stack whose test runner is killed", async () => {
  await using witness = await project.createStack();
  const runner = spawn(process.execPath, [
    "-e",
    `const { spawn } = require("node:child_process");
     const stack = spawn(process.argv[1], ["stack", "--project", process.argv[2]], { stdio: ["pipe", "inherit", "inherit"] });
     stack.once("error", (error) => console.error(error));`,
    binary(),
    project.folder,
  ]);
  const lines = createInterface({ input: runner.stdout });
  const [json] = (await once(lines, "line")) as [string];
  const { DB_URL: dbUrl, API_URL: url } = JSON.parse(json) as { DB_URL: string; API_URL: string };
  const name = new URL(dbUrl).pathname.slice(1);
  const databases = () =>
    query(witness.dbUrl, `select datname from pg_database where datname = '${name}'`);
  expect(await databases()).toHaveLength(1);

  runner.kill("SIGKILL");

  await until(async () => (await databases()).length === 0, "the database is dropped");
  await expect(fetch(url)).rejects.toThrow();
});

test("a stack that has ended does not answer any more", async () => {
  const stack = await project.createStack();
  await stack.dispose();
  await stack.dispose();
  await expect(fetch(stack.url)).rejects.toThrow();
});
