// One server for the whole run (support/server.ts). Test files share it and run one after the other, because the machine also
// runs PostgreSQL and the server.
import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["**/*.test.ts"],
    globalSetup: ["support/server.ts"],
    fileParallelism: false,
    // Far more than any test takes: on a busy machine the server may need seconds for a request.
    testTimeout: 90_000,
    hookTimeout: 120_000,
  },
});
