// A fresh copy of a Supabase project for a test: `await using stack = await createStack({ project })`.
//
// Each stack is one process, `selvedge stack`. Its standard input is a pipe from this process, so that it ends with it however
// that happens, and what it leaves is removed by the process that runs PostgreSQL for all stacks of the project.

import { type ChildProcessByStdio, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import type { Readable, Writable } from "node:stream";
import { findBinary } from "./binary.ts";

export interface StackOptions {
  /** Folder of the project: the one that holds `supabase/`, or that folder itself. Default: the current directory. */
  project?: string;
  /** The program. Default: `SELVEDGE_BIN`, then that of the package `selvedge`, then `selvedge` on the PATH. */
  binary?: string;
  /** Folder with PostgreSQL's programs. Default: looked for on the machine and in `node_modules`. */
  pgBin?: string;
  /** Variables for the project, such as those that `env(NAME)` in its `config.toml` refers to. */
  env?: Readonly<Record<string, string>>;
  /** Receives every line that the stack logs, such as what edge functions print. */
  onLog?: (line: string) => void;
}

/** A running copy of the project. */
export interface Stack extends AsyncDisposable {
  /** URL of the API, the first argument of `createClient`. */
  readonly url: string;
  /** Connection string of the stack's own database. */
  readonly dbUrl: string;
  /** Address of the inbox with the mails that the stack has sent; `undefined` when the project switches it off. */
  readonly inboxUrl: string | undefined;
  /** Key for browsers and for requests of signed-in users. */
  readonly publishableKey: string;
  /** Key that row-level security does not apply to. */
  readonly secretKey: string;
  /** The older form of `publishableKey`. */
  readonly anonKey: string;
  /** The older form of `secretKey`. */
  readonly serviceRoleKey: string;
  /** The secret of the two older keys. */
  readonly jwtSecret: string;
  /** Everything above and more, by the names that `selvedge status -o json` prints. */
  readonly values: Readonly<Record<string, string>>;
  /** Ends the stack and removes its data; does nothing the second time. `await using` calls it. */
  dispose(): Promise<void>;
}

type StackProcess = ChildProcessByStdio<Writable, Readable, Readable>;

/** How long a stack may take to end by itself before it is killed. */
const END_TIMEOUT_MS = 2_000;

/** How many lines of the log an error quotes. */
const QUOTED_LINES = 40;

/**
 * Starts a copy of the project and returns when it serves requests. Its database has all migrations and seeds applied, its
 * buckets hold the configured files. The first call after a change of the project takes as long as applying them takes.
 */
export async function createStack(options: StackOptions = {}): Promise<Stack> {
  const binary = await findBinary(options.binary);
  const child = spawnStack(binary, options);
  try {
    const log = collectLog(child, options.onLog);
    return makeStack(child, await readValues(child, log));
  } catch (error) {
    // A child that is left would keep the test runner from ending.
    await endStack(child);
    throw explainStart(error, binary);
  }
}

/** Says what to do where the program itself is missing. */
function explainStart(error: unknown, binary: string): unknown {
  const isMissing = error instanceof Error && "code" in error && error.code === "ENOENT";
  if (!isMissing) return error;
  return new Error(
    `There is no program ${binary}. Install it with \`npm install --save-dev selvedge\`, or name one by SELVEDGE_BIN or the option \`binary\`.`,
    { cause: error },
  );
}

function makeStack(child: StackProcess, values: Record<string, string>): Stack {
  const value = (name: string): string => {
    const found = values[name];
    if (found === undefined) {
      throw new Error(
        `selvedge stack has printed no ${name}: its version does not match this package`,
      );
    }
    return found;
  };
  let ending: Promise<void> | undefined;
  const dispose = (): Promise<void> => {
    ending ??= endStack(child);
    return ending;
  };
  return {
    url: value("API_URL"),
    dbUrl: value("DB_URL"),
    inboxUrl: values.MAILPIT_URL,
    publishableKey: value("PUBLISHABLE_KEY"),
    secretKey: value("SECRET_KEY"),
    anonKey: value("ANON_KEY"),
    serviceRoleKey: value("SERVICE_ROLE_KEY"),
    jwtSecret: value("JWT_SECRET"),
    values,
    dispose,
    [Symbol.asyncDispose]: dispose,
  };
}

function spawnStack(binary: string, options: StackOptions): StackProcess {
  const args = ["stack"];
  if (options.project !== undefined) {
    args.push("--project", options.project);
  }
  if (options.pgBin !== undefined) {
    args.push("--pg-bin", options.pgBin);
  }
  return spawn(binary, args, {
    env: { ...process.env, ...options.env },
    stdio: ["pipe", "pipe", "pipe"],
    // In a group of its own Ctrl-C does not reach it, so that tests can still use it while the runner ends them.
    detached: true,
  });
}

/** Reads the log line by line, so that the pipe never fills up, and keeps its last lines. */
function collectLog(child: StackProcess, onLog: StackOptions["onLog"]): string[] {
  const kept: string[] = [];
  createInterface({ input: child.stderr }).on("line", (line) => {
    kept.push(line);
    if (kept.length > QUOTED_LINES) {
      kept.shift();
    }
    onLog?.(line);
  });
  return kept;
}

/** Waits for the one line of JSON that the stack prints when it serves requests. */
async function readValues(child: StackProcess, log: string[]): Promise<Record<string, string>> {
  const lines = createInterface({ input: child.stdout });
  const ready = new Promise<string>((resolve, reject) => {
    lines.once("line", resolve);
    child.once("error", reject);
    // "close" comes after the last line of the log, "exit" may come before it.
    child.once("close", (code, signal) => {
      const how = signal ?? `exit code ${code}`;
      reject(new Error(`selvedge stack did not start (${how})\n${log.join("\n")}`));
    });
  });
  const line = await ready;
  try {
    return JSON.parse(line) as Record<string, string>;
  } catch (cause) {
    throw new Error(
      `selvedge stack has printed no JSON: its version does not match this package\n${line}`,
      { cause },
    );
  }
}

async function endStack(child: StackProcess): Promise<void> {
  // Without a process id it has never been started.
  if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) {
    return;
  }
  const ended = once(child, "exit");
  const timer = setTimeout(() => child.kill("SIGKILL"), END_TIMEOUT_MS);
  child.stdin.on("error", () => {
    // It has ended meanwhile, which is what was wanted.
  });
  child.stdin.end();
  await ended;
  clearTimeout(timer);
}
