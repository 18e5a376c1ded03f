#!/usr/bin/env node
// The command `selvedge` of the npm package. It runs the platform's program with the same arguments, input and output, passes signals
// on, and exits with the program's status.

import { spawn } from "node:child_process";
import { basename } from "node:path";
import { binaryPath } from "./index.ts";

const PASSED_ON = ["SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT"] as const;

function run(binary: string): void {
  const child = spawn(binary, process.argv.slice(2), {
    stdio: "inherit",
    // The program behaves like the Supabase CLI when it is called as `supabase`, which is the name of a link to this file.
    argv0: basename(process.argv[1] ?? "selvedge"),
  });
  // After Ctrl-C the terminal also signals the program, which ignores a second signal within half a second.
  for (const signal of PASSED_ON) {
    process.on(signal, () => child.kill(signal));
  }
  child.once("error", (error) => fail(`${binary} cannot be run: ${error.message}`));
  child.once("exit", (code, signal) => {
    if (signal === null) {
      process.exitCode = code ?? 1;
      return;
    }
    // Ends by the same signal, because shells and test runners distinguish that from an exit code.
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
