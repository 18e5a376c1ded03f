// One server for all journeys: Lookbook with its seed and the built site, on free ports.
//
// SELVEDGE_E2E_URL runs them against a server that is already up, with the local keys.

import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { isAnnounced } from "../support/address.ts";
import { startLookbook } from "../support/lookbook.ts";

export default async function setup(): Promise<(() => Promise<void>) | undefined> {
  if (isAnnounced()) {
    return undefined;
  }
  const site = resolve(import.meta.dirname, "../../frontend/dist/index.html");
  if (!existsSync(site)) {
    throw new Error(`No site at ${site}: run \`npm run build\` in frontend/ first.`);
  }
  return startLookbook();
}
