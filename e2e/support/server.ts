// Starts Lookbook once for the whole Vitest run; all test files share it.
//
// With SELVEDGE_E2E_URL the tests use a server that is already up. It must have the well-known local keys.

import { hasServer } from "./address.ts";
import { startLookbook } from "./lookbook.ts";

export default async function setup(): Promise<(() => Promise<void>) | undefined> {
  if (hasServer()) {
    return undefined;
  }
  return startLookbook();
}
