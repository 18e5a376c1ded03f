// Worker processes of functions: several under load, the wall-clock limit, the policy `oneshot`. And `functions serve`: with a
// debugger, and while the project runs already.

import { execFile, spawn } from "node:child_process";
import { appendFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { eventually, type FunctionsServer, startFunctions } from "../support/functions.ts";
import { freePorts } from "../support/ports.ts";
import { binary } from "../support/selvedge.ts";

/** Ids of the processes that run a function. */
async function workersOf(server: FunctionsServer, name: string): Promise<string[]> {
  const pattern = `${server.folder}/functions/${name}/index.ts`;
  const found = await promisify(execFile)("pgrep", ["-f", pattern]).catch(() => ({ stdout: "" }));
  return found.stdout.split("\n").filter((pid) => pid !== "");
}

/** The id that a function sees as its worker's. */
async function executionOf(server: FunctionsServer): Promise<string> {
  const response = await server.call("variables");
  expect(response.status).toBe(200);
  return (await response.json()).env.SB_EXECUTION_ID;
}

describe("gw_042 several workers of a function", () => {
  let server: FunctionsServer;

  beforeAll(async () => {
    server = await startFunctions({ SELVEDGE_FUNCTIONS_WORKERS: "2" });
  });

  afterAll(async () => {
    await server?.stop();
  });

  test("a second worker starts when the first has 16 calls in progress, and no third", async () => {
    await server.call("slow");
    expect(await workersOf(server, "slow")).toHaveLength(1);

    const calls = Array.from({ length: 48 }, async () => (await server.call("slow")).text());
    const pids = await eventually(
      () => workersOf(server, "slow"),
      (found) => found.length === 2,
    );
    const answers = await Promise.all(calls);

    expect(pids).toHaveLength(2);
    expect(new Set(answers)).toEqual(new Set(["Slow Response"]));
    expect((await workersOf(server, "slow")).length).toBeLessThanOrEqual(2);
  });

  test("a worker that is killed leaves the calls of the other one alone", async () => {
    const calls = Array.from({ length: 32 }, async () => (await server.call("slow")).status);
    const pids = await eventually(
      () => workersOf(server, "slow"),
      (found) => found.length === 2,
    );
    process.kill(Number(pids[0]), "SIGKILL");

    const statuses = await Promise.all(calls);

    expect(statuses.filter((status) => status === 200).length).toBeGreaterThan(0);
    expect(new Set(statuses)).toEqual(new Set([200, 500]));
    expect(await (await server.call("slow")).text()).toBe("Slow Response");
  });
});

describe("gw_042 workers that live for five seconds", () => {
  let server: FunctionsServer;

  beforeAll(async () => {
    server = await startFunctions({ SELVEDGE_FUNCTIONS_WALL_CLOCK: "5s" });
  });

  afterAll(async () => {
    await server?.stop();
  });

  test("a call that outlives its worker is a WORKER_LIMIT, and the worker is told why", async () => {
    const started = performance.now();

    const response = await server.call("ending/wait");

    expect(response.status).toBe(546);
    expect(await response.json()).toMatchObject({ code: "WORKER_LIMIT" });
    expect(performance.now() - started).toBeGreaterThan(4000);
    expect(server.output()).toContain("ending because of wall_clock");
    expect(await (await server.call("ending")).text()).toBe("ok");
  });
});

describe("gw_042 the policy oneshot", () => {
  let server: FunctionsServer;

  beforeAll(async () => {
    server = await startFunctions({ SUPABASE_EDGE_RUNTIME_POLICY: "oneshot" });
  });

  afterAll(async () => {
    await server?.stop();
  });

  test("each call gets a worker of its own, which ends after it", async () => {
    const [first, second, third] = await Promise.all([
      executionOf(server),
      executionOf(server),
      executionOf(server),
    ]);

    expect(new Set([first, second, third, await executionOf(server)]).size).toBe(4);
    expect(
      await eventually(
        () => workersOf(server, "variables"),
        (pids) => pids.length === 0,
      ),
    ).toEqual([]);
  });

  test("a function keeps nothing between two calls", async () => {
    const calls = async () => (await (await server.call("throws")).json()).calls;

    expect([await calls(), await calls()]).toEqual([1, 1]);
  });
});

describe("gw_042 functions serve --inspect-mode run", () => {
  let server: FunctionsServer;
  let inspectorPort: number;

  beforeAll(async () => {
    [inspectorPort = 0] = await freePorts(1);
    server = await startFunctions(
      {
        SUPABASE_EDGE_RUNTIME_INSPECTOR_PORT: `${inspectorPort}`,
        SELVEDGE_FUNCTIONS_WALL_CLOCK: "1s",
      },
      { command: ["functions", "serve"], flags: ["--inspect-mode", "run", "--no-verify-jwt"] },
    );
  });

  afterAll(async () => {
    await server?.stop();
  });

  test("a debugger is told of the function's process, whose time is not limited", async () => {
    const call = server.call("slow");
    const targets = await eventually(
      () =>
        fetch(`http://127.0.0.1:${inspectorPort}/json`)
          .then((response) => response.json())
          .catch(() => []),
      (found) => found.length > 0,
    );

    expect(targets[0]).toMatchObject({
      webSocketDebuggerUrl: expect.stringContaining(`:${inspectorPort}/`),
    });
    expect(await (await call).text()).toBe("Slow Response");
  });

  test("the words of the CLI are printed, with each call", async () => {
    await server.call("slow");

    // The server answers before its words are printed.
    const output = await eventually(server.output, (text) => text.includes("<function-name>\n - "));
    expect(output).toContain("Setting up Edge Functions runtime...");
    expect(output).toContain("Skipped serving Function: switched-off");
    expect(output).toContain(
      `Serving functions on ${server.apiUrl}/functions/v1/<function-name>\n - `,
    );
    expect(output).toContain("serving the request with supabase/functions/slow");
  });
});

describe("gw_042 functions serve beside a running project", () => {
  let server: FunctionsServer;

  beforeAll(async () => {
    server = await startFunctions();
    await writeFile(join(server.folder, "lent.env"), "LENT=by-serve\n");
  });

  afterAll(async () => {
    await server?.stop();
  });

  /** Starts `functions serve`, and waits until it serves. */
  async function serve(...flags: string[]) {
    const child = spawn(binary(), ["functions", "serve", "--project", server.folder, ...flags], {
      env: { ...process.env, SELVEDGE_DATA_DIR: server.dataFolder },
    });
    let printed = "";
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding("utf8").on("data", (text: string) => {
        printed += text;
      });
    }
    const ended = new Promise<number | null>((done) => child.once("exit", done));
    const output = (isDone: (text: string) => boolean) => eventually(() => printed, isDone);
    await output((text) => text.includes("Serving functions on") || child.exitCode !== null);
    return { child, ended, output };
  }

  const lent = async () => (await (await server.call("variables")).json()).env.LENT;
  const greet = () =>
    fetch(`${server.apiUrl}/functions/v1/hello`, {
      method: "POST",
      body: JSON.stringify({ name: "Ada" }),
    });

  test("its options count, and it shows what functions print, until it ends", async () => {
    expect([await lent(), (await greet()).status]).toEqual([undefined, 401]);

    const session = await serve("--env-file", join(server.folder, "lent.env"), "--no-verify-jwt");
    expect([await lent(), (await greet()).status]).toEqual(["by-serve", 200]);
    const printed = await session.output((text) => text.includes("greeting"));
    expect(printed).toContain(
      `Serving functions on ${server.apiUrl}/functions/v1/<function-name>\n - `,
    );
    expect(printed).toContain("serving the request with supabase/functions/hello");
    expect(printed).toContain("[Info] greeting Ada");

    session.child.kill("SIGINT");
    expect(await session.ended).toBe(0);
    expect(await session.output((text) => text.includes("Stopped"))).toContain(
      "Stopped serving supabase/functions",
    );
    expect(
      await eventually(
        async () => (await greet()).status,
        (status) => status === 401,
      ),
    ).toBe(401);
    expect(await lent()).toBeUndefined();
  });

  test("changed files are named, and a second one takes over", async () => {
    const first = await serve();
    const settings = join(server.folder, "config.toml");
    await appendFile(settings, "\n[functions.hello]\nverify_jwt = false\n");
    expect(
      await eventually(
        async () => (await greet()).status,
        (status) => status === 200,
      ),
    ).toBe(200);
    expect(await first.output((text) => text.includes("File change"))).toContain(
      `File change detected: ${settings} (WRITE)`,
    );

    const second = await serve("--env-file", join(server.folder, "lent.env"));
    expect(await first.ended).toBe(0);
    expect(await lent()).toBe("by-serve");
    // Its options end with it even if it is killed.
    second.child.kill("SIGKILL");
    expect(await eventually(lent, (value) => value === undefined)).toBeUndefined();
  });
});
