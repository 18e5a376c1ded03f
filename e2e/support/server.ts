// The server that all Vitest files share: Lookbook, started once for the whole run.
//
// SELVEDGE_E2E_URL runs the tests against a server that is already up, with the local keys.

import { isAnnounced } from "./address.ts";
import { startLookbook } from "./lookbook.ts";

export default async function setup(): Promise<(() => Promise<void>) | undefined> {
  if (isAnnounced()) {
    return undefined;
  }
  return startLookbook();
}
