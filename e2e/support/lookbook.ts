// Starts Lookbook for the tests: the server, an OpenID provider to sign in with, and a shop to import products from.

import { setAddresses } from "./address.ts";
import { googleSettings, startProvider } from "./provider.ts";
import { samlSettings } from "./saml-provider.ts";
import { startSelvedge } from "./selvedge.ts";
import { startShop } from "./shop.ts";

/** Starts them and sets their addresses for the tests. Returns a function that stops them. */
export async function startLookbook(): Promise<() => Promise<void>> {
  const provider = await startProvider();
  const shop = await startShop();
  const server = await startSelvedge("sql/app", [], (apiPort) => ({
    ...googleSettings(provider),
    ...shop.settings,
    ...samlSettings(),
    ...webauthnSettings(apiPort),
  }));
  provider.registerClient(server.apiUrl);
  setAddresses(server.apiUrl, server.inboxUrl, server.databaseUrl);
  return async () => {
    await server.stop();
    await provider.stop();
    await shop.stop();
  };
}

/** Switches on passkeys and WebAuthn factors. Browsers allow WebAuthn on `localhost`, but not on an IP address. */
function webauthnSettings(apiPort: number): Record<string, string> {
  return {
    SUPABASE_AUTH_PASSKEY_ENABLED: "true",
    SUPABASE_AUTH_WEBAUTHN_RP_ID: "localhost",
    SUPABASE_AUTH_WEBAUTHN_RP_DISPLAY_NAME: "Lookbook",
    SUPABASE_AUTH_WEBAUTHN_RP_ORIGINS: `http://localhost:${apiPort}`,
    SUPABASE_AUTH_MFA_WEB_AUTHN_ENROLL_ENABLED: "true",
    SUPABASE_AUTH_MFA_WEB_AUTHN_VERIFY_ENABLED: "true",
  };
}
