// A server with the functions of e2e/functions/project, in a copy that a test may change.

import { cp, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { delimiter, join, resolve } from "node:path";
import { localKey } from "./clients.ts";
import { type Selvedge, startSelvedge } from "./selvedge.ts";

const modules = resolve(import.meta.dirname, "../node_modules");

/** A running server with functions. */
export interface FunctionsServer extends Selvedge {
  /** The copied project. */
  folder: string;
  /** Calls a function with the anon key. */
  call(path: string, init?: RequestInit): Promise<Response>;
}

/** Starts the project; `variables` are settings of the server, and `command` is what starts it with which flags. */
export async function startFunctions(
  variables: Record<string, string> = {},
  { command = ["start"], flags = [] }: { command?: string[]; flags?: string[] } = {},
): Promise<FunctionsServer> {
  const folder = await mkdtemp(join(tmpdir(), "selvedge-functions-"));
  await cp(resolve(import.meta.dirname, "../functions/project"), folder, { recursive: true });
  const settings = {
    // The server finds the Deno that `npm ci` has installed here.
    PATH: [join(modules, ".bin"), process.env.PATH].join(delimiter),
    // Packages are downloaded once for all runs.
    SELVEDGE_FUNCTIONS_CACHE_DIR: join(modules, ".cache/deno"),
    ...variables,
  };
  const server = await startSelvedge(folder, flags, settings, command);
  return {
    ...server,
    folder,
    call: (path, init = {}) =>
      fetch(`${server.apiUrl}/functions/v1/${path}`, {
        ...init,
        headers: { Authorization: `Bearer ${localKey("anon")}`, ...init.headers },
      }),
    stop: async () => {
      await server.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** Waits until a check passes, for at most a minute, and returns its last result. */
export async function eventually<T>(
  read: () => T | Promise<T>,
  isDone: (value: T) => boolean,
): Promise<T> {
  const deadline = Date.now() + 60_000;
  let value = await read();
  while (!isDone(value) && Date.now() < deadline) {
    await new Promise((wake) => setTimeout(wake, 50));
    value = await read();
  }
  return value;
}
