// Starts one server for all site tests: Lookbook with its seed and the built site, on free ports.
//
// With SELVEDGE_E2E_URL the tests use a server that is already running with the local keys.

import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { hasServer } from "../support/address.ts";
import { startLookbook } from "../support/lookbook.ts";

export default async function setup(): Promise<(() => Promise<void>) | undefined> {
  if (hasServer()) {
    return undefined;
  }
  const site = resolve(import.meta.dirname, "../../frontend/dist/index.html");
  if (!existsSync(site)) {
    throw new Error(`No site at ${site}: run \`npm run build\` in frontend/ first.`);
  }
  return startLookbook();
}
