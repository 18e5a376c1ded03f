// Stacks of the small project in stack/project, with their data in a temporary folder.

import { chmod, cp, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createStack, type Stack } from "../../packages/stack/src/index.ts";
import { binary } from "../support/selvedge.ts";

/** A copy of the project that tests may change. */
export interface ProjectCopy extends AsyncDisposable {
  readonly folder: string;
  createStack(): Promise<Stack>;
}

/** Copies the project into a temporary folder, which is removed with all data. */
export async function copyProject(): Promise<ProjectCopy> {
  const folder = await mkdtemp(join(tmpdir(), "selvedge-stack-"));
  // PostgreSQL runs as another user when the tests run as root, and that user has to reach its data.
  await chmod(folder, 0o755);
  await cp(join(import.meta.dirname, "project"), folder, { recursive: true });
  return {
    folder,
    createStack: () => createStack({ project: folder, binary: binary() }),
    [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true, maxRetries: 5 }),
  };
}
