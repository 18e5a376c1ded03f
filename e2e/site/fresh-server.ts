// A server with the demo data only, for tests that count bytes or rows: on the shared server other tests add rows meanwhile.

import { type Selvedge, startSelvedge } from "../support/selvedge.ts";
import { test as base } from "./journey.ts";

interface WorkerFixtures {
  freshServer: Selvedge;
}

/** Pages and requests go to a server of this worker's own. Persons of the other tests do not exist there. */
export const test = base.extend<object, WorkerFixtures>({
  freshServer: [
    // biome-ignore lint/correctness/noEmptyPattern: Playwright reads the names of fixtures from the pattern.
    async ({}, use) => {
      const server = await startSelvedge("sql/app");
      await use(server);
      await server.stop();
    },
    { scope: "worker", timeout: 120_000 },
  ],
  baseURL: async ({ freshServer }, use) => use(freshServer.apiUrl),
});
