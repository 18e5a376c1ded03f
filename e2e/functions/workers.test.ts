// How many processes a function has, and how long one lives: several workers under load, the wall clock, the policy `oneshot`,
// and `functions serve` with a debugger.

import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { eventually, type FunctionsServer, startFunctions } from "../support/functions.ts";
import { binary, freePorts } from "../support/selvedge.ts";

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

describe("gw_042 several workers of a function that live for six seconds", () => {
  let server: FunctionsServer;

  beforeAll(async () => {
    server = await startFunctions({
      SELVEDGE_FUNCTIONS_WORKERS: "2",
      SELVEDGE_FUNCTIONS_WALL_CLOCK: "6s",
    });
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

  test("a call that outlives its worker is a WORKER_LIMIT, and the worker is told why", async () => {
    const started = performance.now();

    const response = await server.call("ending/wait");

    expect(response.status).toBe(546);
    expect(await response.json()).toMatchObject({ code: "WORKER_LIMIT" });
    expect(performance.now() - started).toBeGreaterThan(5000);
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

  test("a second functions serve names the running one and what to do", async () => {
    const second = promisify(execFile)(
      binary(),
      ["functions", "serve", "--project", server.folder],
      {
        env: { ...process.env, SELVEDGE_DATA_DIR: server.dataFolder },
      },
    );

    await expect(second).rejects.toMatchObject({
      stderr: expect.stringMatching(/runs already, and serves its functions[\s\S]*selvedge stop/),
    });
    expect(await (await server.call("slow")).text()).toBe("Slow Response");
  });
});
