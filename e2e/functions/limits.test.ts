// Limits of functions: failures, limits and reloads must not affect the server or other functions. One server with short
// limits.

import { execFile } from "node:child_process";
import { readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { anonKey } from "../support/clients.ts";
import { eventually, type FunctionsServer, startFunctions } from "../support/functions.ts";
import { binary } from "../support/selvedge.ts";

let server: FunctionsServer;

beforeAll(async () => {
  server = await startFunctions({
    SELVEDGE_FUNCTIONS_BOOT_TIMEOUT: "10s",
    // A loop that has one of thirty turns at a core needs that long for its second of CPU time.
    SELVEDGE_FUNCTIONS_RESPONSE_TIMEOUT: "30s",
    SELVEDGE_FUNCTIONS_CPU: "1s",
    SELVEDGE_FUNCTIONS_CPU_SOFT: "700ms",
    SELVEDGE_FUNCTIONS_IDLE_TIMEOUT: "3s",
    SELVEDGE_FUNCTIONS_MEMORY: "128MiB",
    SELVEDGE_FUNCTIONS_TEMPORARY_FILES: "32MiB",
  });
});

afterAll(async () => {
  await server?.stop();
});

/** Ids of the processes that run a function, as text; empty when there are none. */
async function workersOf(name: string): Promise<string> {
  const pattern = `${server.folder}/functions/${name}/index.ts`;
  const found = await promisify(execFile)("pgrep", ["-f", pattern]).catch(() => ({ stdout: "" }));
  return found.stdout.trim();
}

async function answer(path: string, init: RequestInit = {}): Promise<[number, unknown]> {
  const response = await server.call(path, init);
  const text = await response.text();
  return [response.status, text.startsWith("{") ? JSON.parse(text) : text];
}

const bootError = [
  503,
  { code: "BOOT_ERROR", message: "Worker failed to boot (please check logs)" },
];
const workerError = [
  500,
  { code: "WORKER_ERROR", message: "Function exited due to an error (please check logs)" },
];
const workerLimit = [
  546,
  {
    code: "WORKER_LIMIT",
    message: "Worker failed to respond due to a resource limit (please check logs)",
  },
];

describe("gw_037 failures", () => {
  test("a function that does not start is a BOOT_ERROR, and the log says why", async () => {
    const broken = ["missing-import", "syntax-error", "top-level-throw", "without-file"];
    const answers = await Promise.all(broken.map((path) => answer(path)));

    expect(answers).toEqual(broken.map(() => bootError));
    for (const reason of ["nothing.ts", "SyntaxError", "no start on purpose"]) {
      expect(server.output()).toContain(reason);
    }
  });

  test("a function that serves nothing is a BOOT_ERROR after a while", async () => {
    expect(await answer("no-server")).toEqual(bootError);
    expect(server.output()).toContain("calls neither Deno.serve nor exports a default with fetch");
  });

  test("an error in the handler is answered with 500, and the worker lives on", async () => {
    expect(await answer("throws")).toEqual([200, { calls: 1 }]);
    expect(await answer("throws", { method: "POST" })).toEqual([500, "Internal Server Error"]);
    expect(await answer("throws")).toEqual([200, { calls: 3 }]);
    expect(await answer("std-serve/throws")).toEqual([500, "Internal Server Error"]);
  });

  test("an uncaught error ends the worker, and the next call gets a new one", async () => {
    expect(await answer("crash")).toEqual([200, { calls: 1 }]);
    expect(await answer("crash/now")).toEqual(workerError);
    expect(await answer("crash")).toEqual([200, { calls: 1 }]);
    expect(await answer("rejection")).toEqual(workerError);
    expect(server.output()).toContain("rejected on purpose");
  });

  test("a killed process fails its own requests only", async () => {
    const others = Array.from({ length: 10 }, () => answer("default-export"));
    const killed = answer("ending/wait");
    await eventually(
      () => server.output(),
      (lines) => lines.includes("waiting for the end"),
    );
    const pids = await workersOf("ending");
    for (const pid of pids.split("\n")) {
      // 0 would be all processes of this test.
      expect(Number(pid)).toBeGreaterThan(0);
      process.kill(Number(pid), "SIGKILL");
    }

    expect(await killed).toEqual(workerError);
    expect((await Promise.all(others)).map(([status]) => status)).toEqual(Array(10).fill(200));
  });
});

describe("gw_042 limits", () => {
  test("an endless loop, full memory and a full heap are a WORKER_LIMIT", async () => {
    const [loop, memory, heap] = await Promise.all(
      ["loop", "memory", "heap"].map((path) => answer(path)),
    );

    expect([loop, memory, heap]).toEqual([workerLimit, workerLimit, workerLimit]);
    expect(server.output()).toContain("limit of CPU time");
    expect(server.output()).toContain("limit of memory");
  });

  test("a function that fills the disk is a WORKER_LIMIT, and leaves nothing there", async () => {
    const left = async () => {
      const folders = (await readdir(tmpdir())).filter((name) => name.startsWith("selvedge-fn-"));
      const nested = folders.map((name) =>
        readdir(join(tmpdir(), name), { recursive: true }).catch((): string[] => []),
      );
      return (await Promise.all(nested)).flat().filter((path) => path.endsWith("tmp/31"));
    };

    expect(await answer("fill-disk")).toEqual(workerLimit);
    expect(server.output()).toContain("limit of temporary files");
    expect(await eventually(left, (found) => found.length === 0)).toEqual([]);
  });

  test("a function that has used up its files and sockets is a WORKER_LIMIT, and replaced", async () => {
    expect(await answer("open-files?count=6000")).toEqual(workerLimit);
    expect(server.output()).toContain("limit of open files and sockets");
    expect(await answer("open-files?count=3")).toEqual([200, { files: 3 }]);
  });

  test("a function that never answers is a 504, while the rest of the API answers as before", async () => {
    /** Median time of a read of a table, in milliseconds. */
    const measure = async () => {
      const times: number[] = [];
      for (let index = 0; index < 50; index += 1) {
        const before = performance.now();
        const response = await fetch(`${server.apiUrl}/rest/v1/notes`, {
          headers: { apikey: anonKey },
        });
        expect(response.status).toBe(200);
        await response.text();
        times.push(performance.now() - before);
      }
      return times.sort((a, b) => a - b)[25] ?? 0;
    };
    await measure();
    const alone = await measure();
    const waiting = Array.from({ length: 1000 }, () => answer("never"));
    await new Promise((wake) => setTimeout(wake, 1000));
    const meanwhile = await measure();
    const statuses = (await Promise.all(waiting)).map(([status]) => status);

    expect(new Set(statuses)).toEqual(new Set([504]));
    // The medians are about the same; the margin is for a busy machine.
    expect(meanwhile).toBeLessThan(3 * alone + 100);
  });

  test("an idle worker ends, and is told why", async () => {
    expect(await answer("ending")).toEqual([200, "ok"]);
    expect(await workersOf("ending")).not.toBe("");

    expect(
      await eventually(
        () => workersOf("ending"),
        (pids) => pids === "",
      ),
    ).toBe("");
    expect(server.output()).toContain("ending because of early_drop");
  });

  test("a worker that does not end is killed, and the next ones are watched as before", async () => {
    const end = async () =>
      await eventually(
        () => workersOf("ending"),
        (pids) => pids === "",
      );
    expect(await answer("ending")).toEqual([200, "ok"]);
    for (const pid of (await workersOf("ending")).split("\n")) {
      expect(Number(pid)).toBeGreaterThan(0);
      // It hears nothing, so that the time it has for its end passes: 15 s.
      process.kill(Number(pid), "SIGSTOP");
    }
    expect(await end()).toBe("");
    expect(await answer("ending")).toEqual([200, "ok"]);
    expect(await end()).toBe("");
  });
});

describe("gw_043 reloading", () => {
  const greet = async () => {
    const [, body] = await answer("hello", { method: "POST", body: '{"name":"you"}' });
    return body;
  };

  test("a changed module counts from the next call on, and running calls finish", async () => {
    const file = join(server.folder, "functions/hello/greeting.ts");
    expect(await greet()).toEqual({ message: "Hello you!" });
    const stream = server.call("sse");

    await writeFile(file, 'export const greeting = "Goodbye";\n');

    expect(
      await eventually(greet, (answered) => JSON.stringify(answered).includes("Goodbye")),
    ).toEqual({ message: "Goodbye you!" });
    expect(await (await stream).text()).toContain("data: 3");
  });

  test("a changed config.toml counts without a restart, and one with an error changes nothing", async () => {
    const file = join(server.folder, "config.toml");
    const before = await readFile(file, "utf8");
    const status = async () => (await fetch(`${server.apiUrl}/functions/v1/throws`)).status;
    expect(await status()).toBe(401);
    const stream = server.call("sse");

    await writeFile(file, `${before}\n[functions.throws]\nverify_jwt = false\n`);
    expect(await eventually(status, (found) => found === 200)).toBe(200);
    await writeFile(file, `${before}\n[functions.throws]\nverify_jwt = "no"\n`);
    const output = await eventually(
      () => server.output(),
      (text) => text.includes("cannot be used"),
    );

    expect(output).toContain("cannot be used");
    expect(await status()).toBe(200);
    expect(await (await stream).text()).toContain("data: 3");
    await writeFile(file, before);
    expect(await eventually(status, (found) => found === 401)).toBe(401);
  });

  test("a mended function starts, a new one is found, a removed one is gone", async () => {
    const broken = join(server.folder, "functions/syntax-error/index.ts");
    await writeFile(broken, 'Deno.serve(() => new Response("mended"));\n');
    expect(await answer("syntax-error")).toEqual([200, "mended"]);

    await rm(join(server.folder, "functions/syntax-error"), { recursive: true });
    expect(await answer("syntax-error")).toEqual([404, "Function not found"]);
  });
});

test("functions new, list and delete work on the project", async () => {
  const run = async (...args: string[]) => {
    const { stdout } = await promisify(execFile)(binary(), [
      "--project",
      server.folder,
      "functions",
      ...args,
    ]);
    return stdout;
  };
  await run("new", "fresh", "--auth", "none");

  const [status, body] = await answer("fresh", { method: "POST", body: '{"name":"Functions"}' });
  expect([status, body]).toEqual([200, { message: "Hello Functions!" }]);
  expect(await run("list")).toMatch(/fresh\s+open to anybody/);
  await expect(run("new", "2fresh")).rejects.toThrow("Invalid Function name");
  await expect(run("new", "fresh")).rejects.toThrow("cannot create");
  await run("delete", "fresh", "--yes");
  expect(await run("list")).not.toContain("fresh");
});

test("no worker outlives a server that was killed, and the next server works", async () => {
  const calls = ["loop", "never"].map((path) => server.call(path).catch(() => undefined));
  const running = async () => [await workersOf("loop"), await workersOf("never")];
  await eventually(running, (pids) => pids.every((found) => found !== ""));

  await server.kill();
  await Promise.all(calls);
  const left = await eventually(running, (pids) => pids.every((found) => found === ""));
  await server.restart();

  expect(left).toEqual(["", ""]);
  expect(await answer("default-export")).toMatchObject([200, { method: "GET" }]);
});
