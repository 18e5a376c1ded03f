#!/usr/bin/env node
// The command `selvedge` of the npm package. It runs the program in its place: same input and output, signals are passed on, and
// it ends as the program ends.

import { spawn } from "node:child_process";
import { basename } from "node:path";
import { binaryPath } from "./index.ts";

const PASSED_ON = ["SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT"] as const;

function run(binary: string): void {
  const child = spawn(binary, process.argv.slice(2), {
    stdio: "inherit",
    // The program answers to the Supabase CLI's words when a link named `supabase` points here.
    argv0: basename(process.argv[1] ?? "selvedge"),
  });
  // Ctrl-C reaches the program from the terminal, too. It takes a signal that follows at once for the same one.
  for (const signal of PASSED_ON) {
    process.on(signal, () => child.kill(signal));
  }
  child.once("error", (error) => fail(`${binary} cannot be run: ${error.message}`));
  child.once("exit", (code, signal) => {
    if (signal === null) {
      process.exitCode = code ?? 1;
      return;
    }
    // Ends by the same signal, as shells and test runners tell that from an exit code.
    process.removeAllListeners(signal);
    process.kill(process.pid, signal);
  });
}

function fail(message: string): void {
  console.error(message);
  process.exitCode = 1;
}

try {
  run(binaryPath());
} catch (error) {
  fail(error instanceof Error ? error.message : String(error));
}
