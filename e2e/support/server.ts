// The server that all Vitest files share: Lookbook, started once for the whole run.
//
// SELVEDGE_E2E_URL runs the tests against a server that is already up, with the local keys.

import type { TestProject } from "vitest/node";
import { startSelvedge } from "./selvedge.ts";

declare module "vitest" {
  interface ProvidedContext {
    /** Address of the API and the site. */
    apiUrl: string;
    /** Address of the development inbox. */
    inboxUrl: string;
  }
}

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const running = process.env.SELVEDGE_E2E_URL;
  if (running) {
    project.provide("apiUrl", running.replace(/\/$/, ""));
    project.provide("inboxUrl", process.env.SELVEDGE_E2E_INBOX_URL ?? "http://127.0.0.1:54324");
    return async () => {};
  }
  const server = await startSelvedge("sql/app");
  project.provide("apiUrl", server.apiUrl);
  project.provide("inboxUrl", server.inboxUrl);
  return server.stop;
}
