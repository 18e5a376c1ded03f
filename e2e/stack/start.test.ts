// @selvedge/stack when the program is missing or prints something else: the error says why, and no process is left.

import { execFile } from "node:child_process";
import { chmod, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { createStack } from "../../packages/stack/src/index.ts";

const run = promisify(execFile);

/** A program that writes its process id into a file, prints these lines and then waits for the end of its input. */
async function withProgram(
  lines: string,
  use: (binary: string, pidFile: string) => Promise<void>,
): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), "selvedge-program-"));
  try {
    const binary = join(folder, "selvedge");
    const pidFile = join(folder, "pid");
    await writeFile(
      binary,
      `#!/bin/sh\necho $$ > '${pidFile}'\nprintf '%s\\n' '${lines}'\nexec cat\n`,
    );
    await chmod(binary, 0o755);
    await use(binary, pidFile);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

const isAlive = async (pid: string): Promise<boolean> =>
  run("kill", ["-0", pid]).then(
    () => true,
    () => false,
  );

test.each([
  ["no JSON", "no JSON"],
  ['{"API_URL":"http://127.0.0.1:1"}', "printed no DB_URL"],
])("a program that prints %s is ended before the error is thrown", async (lines, message) => {
  await withProgram(lines, async (binary, pidFile) => {
    await expect(createStack({ binary })).rejects.toThrow(message);
    expect(await isAlive((await readFile(pidFile, "utf8")).trim())).toBe(false);
  });
});

test("a missing program says how to install it", async () => {
  const binary = "/nowhere/selvedge";
  await expect(createStack({ binary })).rejects.toThrow(/npm install --save-dev selvedge/);
});
