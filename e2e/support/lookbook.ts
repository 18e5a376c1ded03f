// Lookbook with everything around it that a test needs: the server, and a provider by which people sign in.

import { announce } from "./address.ts";
import { asGoogle, startProvider } from "./provider.ts";
import { startSelvedge } from "./selvedge.ts";

/** Starts both and says where they are; returns what stops them. */
export async function startLookbook(): Promise<() => Promise<void>> {
  const provider = await startProvider();
  const server = await startSelvedge("sql/app", [], asGoogle(provider));
  provider.admit(server.apiUrl);
  announce(server.apiUrl, server.inboxUrl);
  return async () => {
    await server.stop();
    await provider.stop();
  };
}
