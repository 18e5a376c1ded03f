// The order in which Vitest starts test files: what takes longest first, so that at the end no worker waits for the other.

import { BaseSequencer, type TestSpecification } from "vitest/node";
import { ownServers } from "./own-servers.ts";

function position({ moduleId }: TestSpecification): number {
  const found = ownServers.findIndex((file) => moduleId.endsWith(`/${file}`));
  return found === -1 ? ownServers.length : found;
}

export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    return files.sort((one, other) => position(one) - position(other));
  }
}
