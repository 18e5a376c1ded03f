// Two projects, which run side by side as two steps of `make test`:
//
//   one server    files that share one server for the whole run (support/server.ts), one after the other, because some change what
//                 all others see, such as whether people may register
//   own servers   files that start what they need, two at a time: they mostly wait
import { configDefaults, defineConfig } from "vitest/config";
import { FlakyTests } from "./support/flaky-tests.ts";
import { LongestFirst } from "./support/longest-first.ts";
import { ownServers } from "./support/own-servers.ts";

/** A folder with other versions of the clients, which the tests then use: tools/newest-clients. */
const clients = process.env.SELVEDGE_CLIENTS;

export default defineConfig({
  resolve: {
    alias: clients
      ? [{ find: /^@supabase\/(?=[a-z]+-js$)/, replacement: `${clients}/@supabase/` }]
      : [],
  },
  test: {
    // The cluster's tests need namespaces: cluster/run.
    exclude: [...configDefaults.exclude, "cluster/**"],
    // Far more than any test takes: on a busy machine the server may need seconds for a request.
    testTimeout: 180_000,
    hookTimeout: 300_000,
    // A build machine may stall for seconds. A test that passes only at the second try must be fixed all the same.
    retry: process.env.CI ? 1 : 0,
    reporters: ["default", new FlakyTests()],
    sequence: { sequencer: LongestFirst },
    projects: [
      {
        extends: true,
        test: {
          name: "one server",
          include: ["client/*.test.ts", "rls/*.test.ts"],
          exclude: [...configDefaults.exclude, ...ownServers],
          globalSetup: ["support/server.ts"],
          fileParallelism: false,
          sequence: { groupOrder: 0 },
        },
      },
      {
        extends: true,
        test: {
          name: "own servers",
          include: ownServers,
          maxWorkers: 2,
          sequence: { groupOrder: 1 },
        },
      },
    ],
  },
});
