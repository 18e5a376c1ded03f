// Lookbook with everything around it that a test needs: the server, and a provider by which people sign in.

import { announce } from "./address.ts";
import { asGoogle, startProvider } from "./provider.ts";
import { startSelvedge } from "./selvedge.ts";

/** Starts both and says where they are; returns what stops them. */
export async function startLookbook(): Promise<() => Promise<void>> {
  const provider = await startProvider();
  const server = await startSelvedge("sql/app", [], (apiPort) => ({
    ...asGoogle(provider),
    ...withAuthenticators(apiPort),
  }));
  provider.admit(server.apiUrl);
  announce(server.apiUrl, server.inboxUrl);
  return async () => {
    await server.stop();
    await provider.stop();
  };
}

/** Passkeys and WebAuthn as a second factor; browsers allow both at the name of this machine, not at its address. */
function withAuthenticators(apiPort: number): Record<string, string> {
  return {
    SUPABASE_AUTH_PASSKEY_ENABLED: "true",
    SUPABASE_AUTH_WEBAUTHN_RP_ID: "localhost",
    SUPABASE_AUTH_WEBAUTHN_RP_DISPLAY_NAME: "Lookbook",
    SUPABASE_AUTH_WEBAUTHN_RP_ORIGINS: `http://localhost:${apiPort}`,
    SUPABASE_AUTH_MFA_WEB_AUTHN_ENROLL_ENABLED: "true",
    SUPABASE_AUTH_MFA_WEB_AUTHN_VERIFY_ENABLED: "true",
  };
}
