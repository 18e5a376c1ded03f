// Storage jobs on whole folders: started on the page, and continued after a crash of the server.

import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { findViolations } from "../site/measure.ts";
import { serviceKey } from "../support/clients.ts";
import { makeProject } from "../support/project.ts";
import { binary, type Selvedge, startSelvedge } from "../support/selvedge.ts";
import { askConsole, expect, test } from "./console-test.ts";

const unique = (name: string) => `${name}-${crypto.randomUUID().slice(0, 8)}`;

async function storage(server: Selvedge, path: string, init: RequestInit = {}): Promise<Response> {
  const response = await fetch(`${server.apiUrl}/storage/v1/${path}`, {
    ...init,
    headers: {
      apikey: serviceKey,
      authorization: `Bearer ${serviceKey}`,
      "content-type": "application/json",
      ...init.headers,
    },
  });
  if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
  return response;
}

async function makeBucket(server: Selvedge, name: string, names: readonly string[]): Promise<void> {
  await storage(server, "bucket", { method: "POST", body: JSON.stringify({ id: name, name }) });
  for (let start = 0; start < names.length; start += 20) {
    await Promise.all(
      names.slice(start, start + 20).map((file) =>
        storage(server, `object/${name}/${file}`, {
          method: "POST",
          body: `content of ${file}`,
          headers: { "content-type": "text/plain" },
        }),
      ),
    );
  }
}

async function listNames(server: Selvedge, bucket: string): Promise<string[]> {
  const names: string[] = [];
  for (let cursor: string | undefined; ; ) {
    const response = await storage(server, `object/list-v2/${bucket}`, {
      method: "POST",
      body: JSON.stringify({ prefix: "", limit: 1000, with_delimiter: false, cursor }),
    });
    const page = (await response.json()) as {
      objects: { name: string }[];
      hasNext: boolean;
      nextCursor?: string;
    };
    names.push(...page.objects.map(({ name }) => name));
    if (!page.hasNext) return names.sort();
    cursor = page.nextCursor;
  }
}

interface Job {
  id: string;
  state: string;
  total: number | null;
  done: number;
  failed: number;
}

async function jobs<T>(server: Selvedge, path = "", body?: unknown): Promise<T> {
  return JSON.parse(await askConsole(server, `/api/storage/jobs${path}`, body)) as T;
}

/** Reads from the database itself the state of a job, and whether a session holds its lock. */
async function readState(server: Selvedge, id: string): Promise<[string, boolean]> {
  // The key of the lock are both halves of the id, of which pg_locks shows the upper and the lower 32 bits.
  const sql = `
    with key as (
      select ('x' || substr(h, 1, 16))::bit(64) # ('x' || substr(h, 17))::bit(64) as bits
      from replace('${id}', '-', '') h)
    select state, exists (
      select from pg_locks, key
      where locktype = 'advisory' and classid::bigint = (bits >> 32)::bigint
        and objid::bigint = (bits & x'00000000ffffffff')::bigint) as is_locked
    from selvedge_console.selvedge_storage_jobs where id = '${id}'`;
  const arguments_ = ["db", "query", sql, "--output", "json", "--db-url", server.databaseUrl];
  const { stdout } = await promisify(execFile)(binary(), arguments_);
  const [row] = JSON.parse(stdout) as { state: string; is_locked: boolean }[];
  return [row?.state ?? "", row?.is_locked ?? false];
}

test("console_121 folders are renamed, moved, copied and deleted, and a taken name is listed as a failure", {
  tag: "@phone",
}, async ({ page, consoleServer }) => {
  const bucket = unique("albums");
  await makeBucket(consoleServer, bucket, [
    "summer/a.txt",
    "summer/deep/b.txt",
    "winter/c.txt",
    "kept/summer2/a.txt",
  ]);
  await page.goto(`/storage?bucket=${bucket}`);
  const row = (name: string) => page.getByRole("row").filter({ hasText: name });
  const tray = page.getByRole("region", { name: "Jobs" });

  await row("summer").getByRole("checkbox").check();
  await page.getByRole("button", { name: "Rename" }).click();
  await page.getByLabel("New name").fill("summer2");
  await page.getByRole("button", { name: "Rename" }).last().click();
  await expect(tray.getByText("Renamed summer/ to summer2")).toBeVisible();
  await expect(row("summer2")).toBeVisible();
  expect(await findViolations(page)).toEqual([]);

  await row("summer2").getByRole("checkbox").check();
  await page.getByRole("button", { name: "Copy", exact: true }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("To folder").fill("kept");
  await dialog.getByRole("button", { name: "Copy" }).click();
  await expect(tray.getByText("Copied summer2/ to kept/")).toBeVisible();
  await expect(tray.getByText("1 file, 1 failed")).toBeVisible();
  await tray.getByRole("button", { name: "Show failures" }).click();
  await expect(page.getByRole("dialog").getByText("summer2/a.txt")).toBeVisible();
  expect(await findViolations(page)).toEqual([]);
  await page.getByRole("dialog").getByRole("button", { name: "Close" }).last().click();

  await row("winter").getByRole("checkbox").check();
  await page.getByRole("button", { name: "Delete" }).click();
  const question = page.getByRole("alertdialog");
  await expect(question.getByText("Inside: 1 file.")).toBeVisible();
  await question.getByRole("textbox").fill("winter");
  await question.getByRole("button", { name: "Delete" }).click();
  await expect(tray.getByText("Deleted winter/")).toBeVisible();
  await expect(row("winter")).toHaveCount(0);

  expect(await listNames(consoleServer, bucket)).toEqual([
    "kept/summer2/a.txt",
    "kept/summer2/deep/b.txt",
    "summer2/a.txt",
    "summer2/deep/b.txt",
  ]);
  await tray.getByRole("button", { name: /^Take off the list: Deleted winter/ }).click();
  await expect(tray.getByText("Deleted winter/")).toHaveCount(0);
});

test("console_121 a job that is cancelled stops, and what is done stays @once", async ({
  consoleServer,
}) => {
  const bucket = unique("cancelled");
  const names = Array.from({ length: 400 }, (_, index) => `from/${index}.txt`);
  await makeBucket(consoleServer, bucket, names);
  const { id } = await jobs<Job>(consoleServer, "", {
    kind: "move",
    bucket,
    steps: [{ from: "from/", to: "to/" }],
  });
  await fetch(`${consoleServer.consoleUrl}/api/storage/jobs/${id}`, {
    method: "DELETE",
    headers: { "x-selvedge-console": "1", "sec-fetch-site": "same-origin" },
  });
  await expect.poll(async () => (await jobs<Job>(consoleServer, `/${id}`)).state).toBe("cancelled");
  const job = await jobs<Job>(consoleServer, `/${id}`);
  const left = await listNames(consoleServer, bucket);
  expect(left).toHaveLength(names.length);
  expect(left.filter((name) => name.startsWith("to/"))).toHaveLength(job.done);
});

test("console_121 kill -9 in the middle of jobs: they end complete after the start, and nothing is lost @once", async () => {
  test.slow();
  const project = await makeProject("crash");
  const server = await startSelvedge(project.path);
  try {
    const names = Array.from({ length: 600 }, (_, index) => `from/${index % 7}/${index}.txt`);
    await makeBucket(server, "files", names);
    const step = (to: string) => ({ bucket: "files", steps: [{ from: "from/", to }] });
    const copy = await jobs<Job>(server, "", { kind: "copy", ...step("copied/") });
    const move = await jobs<Job>(server, "", { kind: "move", ...step("moved/") });

    for (const { id } of [copy, move]) {
      await expect
        .poll(async () => (await jobs<Job>(server, `/${id}`)).done, {
          intervals: [20],
          timeout: 60_000,
        })
        .toBeGreaterThan(50);
      await server.kill();
      await server.restart();
      expect((await jobs<Job>(server, `/${id}`)).done).toBeLessThan(names.length);
    }

    for (const { id } of [copy, move]) {
      await expect
        .poll(async () => (await jobs<Job>(server, `/${id}`)).state, { timeout: 90_000 })
        .toBe("done");
      expect(await jobs<Job>(server, `/${id}`)).toMatchObject({
        total: names.length,
        done: names.length,
        failed: 0,
      });
    }
    const expected = names.flatMap((name) => [
      name.replace("from/", "copied/"),
      name.replace("from/", "moved/"),
    ]);
    expect(await listNames(server, "files")).toEqual(expected.sort());
    const sample = await storage(server, "object/authenticated/files/moved/3/3.txt");
    expect(await sample.text()).toBe("content of from/3/3.txt");
  } finally {
    await server.stop();
    await project.remove();
  }
});

test("console_121 a node that is frozen in the middle of a job loses it, so that another one can go on @once", async () => {
  test.slow();
  const project = await makeProject("frozen");
  const server = await startSelvedge(project.path);
  try {
    const names = Array.from({ length: 600 }, (_, index) => `from/${index}.txt`);
    await makeBucket(server, "files", names);
    const { id } = await jobs<Job>(server, "", {
      kind: "move",
      bucket: "files",
      steps: [{ from: "from/", to: "to/" }],
    });
    await expect
      .poll(async () => (await jobs<Job>(server, `/${id}`)).done, {
        intervals: [20],
        timeout: 60_000,
      })
      .toBeGreaterThan(50);
    server.freeze();
    try {
      expect(await readState(server, id)).toEqual(["running", true]);
      await expect
        .poll(() => readState(server, id), { timeout: 30_000 })
        .toEqual(["running", false]);
    } finally {
      server.thaw();
    }

    await expect
      .poll(async () => (await jobs<Job>(server, `/${id}`)).state, { timeout: 90_000 })
      .toBe("done");
    expect(await jobs<Job>(server, `/${id}`)).toMatchObject({ done: names.length, failed: 0 });
    expect(await listNames(server, "files")).toEqual(
      names.map((name) => name.replace("from/", "to/")).sort(),
    );
  } finally {
    await server.stop();
    await project.remove();
  }
});
