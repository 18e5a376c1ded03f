// A real OpenID provider for the tests: the certified npm package `oidc-provider` with a sign-in page. The server
// under test is configured to use it as Google, and reads its endpoints by OpenID discovery, as it does with Google.
//
// Any e-mail address can sign in; the part before the @ becomes the name. For addresses that begin with "unverified"
// the provider reports `email_verified: false`.

import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import Provider, { type Configuration } from "oidc-provider";

/** The credentials of the server under test at the provider. */
export const clientId = "lookbook-client";
export const clientSecret = "lookbook-secret";

/** Settings that make the server under test use the provider as Google. */
export function googleSettings(provider: IdentityProvider): Record<string, string> {
  return {
    SUPABASE_AUTH_EXTERNAL_GOOGLE_ENABLED: "true",
    SUPABASE_AUTH_EXTERNAL_GOOGLE_CLIENT_ID: clientId,
    SUPABASE_AUTH_EXTERNAL_GOOGLE_SECRET: clientSecret,
    SUPABASE_AUTH_EXTERNAL_GOOGLE_URL: provider.issuer,
  };
}

/** A running provider. */
export interface IdentityProvider {
  /** The issuer, which is also its address. */
  issuer: string;
  /** Registers the server under test as a client. Until then the provider responds 503. */
  registerClient(apiUrl: string): void;
  stop(): Promise<void>;
}

/** Starts the provider on a free port. */
export async function startProvider(): Promise<IdentityProvider> {
  let handle: (request: IncomingMessage, response: ServerResponse) => void = (_, response) => {
    response.writeHead(503).end();
  };
  const server = createServer((request, response) => handle(request, response));
  await new Promise<void>((ready) => server.listen(0, "127.0.0.1", ready));
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    issuer,
    registerClient: (apiUrl) => {
      handle = requestHandler(new Provider(issuer, configuration(apiUrl)));
    },
    stop: () => close(server),
  };
}

function close(server: Server): Promise<void> {
  server.closeAllConnections();
  return new Promise((closed) => server.close(() => closed()));
}

function configuration(apiUrl: string): Configuration {
  return {
    clients: [
      {
        client_id: clientId,
        client_secret: clientSecret,
        redirect_uris: [`${apiUrl}/auth/v1/callback`],
        grant_types: ["authorization_code", "refresh_token"],
      },
    ],
    // As Google does: the claims are in the ID token, and the scope `profile` adds the name.
    conformIdTokenClaims: false,
    claims: {
      openid: ["sub"],
      email: ["email", "email_verified"],
      profile: ["name", "picture"],
    },
    findAccount: (_context, id) => ({
      accountId: id,
      claims: () => claimsOf(id, `${apiUrl}/favicon.svg`),
    }),
    issueRefreshToken: async () => true,
    pkce: { required: () => false },
    features: { devInteractions: { enabled: false } },
    interactions: { url: (_context, interaction) => `/interaction/${interaction.uid}` },
    cookies: { keys: ["only for tests"] },
    ttl: { Interaction: 600, Session: 600, Grant: 600, AccessToken: 600, IdToken: 600 },
  };
}

function claimsOf(email: string, picture: string) {
  const name = (email.split("@")[0] ?? "").replace(/[^a-z]+/gi, " ").trim();
  return {
    sub: email,
    email,
    email_verified: !email.startsWith("unverified"),
    name: name.replace(/\b[a-z]/g, (letter) => letter.toUpperCase()),
    picture,
  };
}

/** Serves the sign-in page; everything else is the protocol. */
function requestHandler(provider: Provider) {
  const protocol = provider.callback();
  return (request: IncomingMessage, response: ServerResponse) => {
    if (!request.url?.startsWith("/interaction/")) {
      protocol(request, response);
      return;
    }
    finishInteraction(provider, request, response).catch((error: unknown) => {
      response.writeHead(500).end(String(error));
    });
  };
}

/** Signs in with the address of the form or of `login_hint`, and grants the scopes without a consent page. */
async function finishInteraction(
  provider: Provider,
  request: IncomingMessage,
  response: ServerResponse,
) {
  const { prompt, params, session, grantId } = await provider.interactionDetails(request, response);
  const accountId = session?.accountId ?? "";
  if (prompt.name === "login" || accountId === "") {
    const email = request.method === "POST" ? await postedEmail(request) : loginHint(params);
    if (email === "") {
      response.writeHead(200, { "content-type": "text/html; charset=utf-8" }).end(signInPage);
      return;
    }
    await provider.interactionFinished(request, response, { login: { accountId: email } });
    return;
  }
  const grant =
    (grantId ? await provider.Grant.find(grantId) : undefined) ??
    new provider.Grant({ accountId, clientId: String(params.client_id) });
  grant.addOIDCScope("openid email profile");
  await provider.interactionFinished(
    request,
    response,
    { consent: { grantId: await grant.save() } },
    { mergeWithLastSubmission: true },
  );
}

function loginHint(params: Record<string, unknown>): string {
  return typeof params.login_hint === "string" ? params.login_hint : "";
}

async function postedEmail(request: IncomingMessage): Promise<string> {
  let body = "";
  for await (const chunk of request) {
    body += chunk;
  }
  return new URLSearchParams(body).get("email") ?? "";
}

const signInPage = `<!doctype html>
<html lang="en">
<head><title>Test provider</title><link rel="icon" href="data:,"></head>
<body>
<h1>Sign in to the test provider</h1>
<form method="post">
<label>Address <input name="email" type="email" required></label>
<button>Continue</button>
</form>
</body>
</html>`;
