// One server for the whole run (support/server.ts); test files share it and run one after the other,
// because the machine that runs them also runs PostgreSQL and the server.
import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["**/*.test.ts"],
    globalSetup: ["support/server.ts"],
    fileParallelism: false,
    testTimeout: 20_000,
    hookTimeout: 60_000,
  },
});
