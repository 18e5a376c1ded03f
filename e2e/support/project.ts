// A separate project for a test file that needs tables or policies which Lookbook does not have.

import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** A folder with the configuration of a project, and one migration unless it is to be empty. */
export interface ProjectFolder {
  path: string;
  remove(): Promise<void>;
}

export async function makeProject(id: string, migration?: string): Promise<ProjectFolder> {
  const path = await mkdtemp(join(tmpdir(), `selvedge-${id}-`));
  await writeFile(join(path, "config.toml"), `project_id = "${id}"\n`);
  if (migration !== undefined) {
    await mkdir(join(path, "migrations"));
    await writeFile(join(path, "migrations", `20260101000000_${id}.sql`), migration);
  }
  return { path, remove: () => rm(path, { recursive: true, force: true }) };
}
