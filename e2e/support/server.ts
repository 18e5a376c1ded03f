// The server that all Vitest files share: Lookbook, started once for the whole run.
//
// SELVEDGE_E2E_URL runs the tests against a server that is already up, with the local keys.

import { announce, isAnnounced } from "./address.ts";
import { startSelvedge } from "./selvedge.ts";

export default async function setup(): Promise<(() => Promise<void>) | undefined> {
  if (isAnnounced()) {
    return undefined;
  }
  const server = await startSelvedge("sql/app");
  announce(server.apiUrl, server.inboxUrl);
  return server.stop;
}
