// One server for the whole run (support/server.ts). Test files share it and run one after the other, because the machine also
// runs PostgreSQL and the server.
import { configDefaults, defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["**/*.test.ts"],
    // The cluster's tests need namespaces: cluster/run.
    exclude: [...configDefaults.exclude, "cluster/**"],
    globalSetup: ["support/server.ts"],
    fileParallelism: false,
    // Far more than any test takes: on a busy machine the server may need seconds for a request.
    testTimeout: 90_000,
    // A build machine may stall for seconds. A test that passes only at the second try must be fixed all the same.
    retry: process.env.CI ? 1 : 0,
    hookTimeout: 120_000,
  },
});
