// A real OpenID provider for the tests: the certified `oidc-provider`, with a sign-in page of its own. It stands in for
// Google: the server under test finds it by discovery, as it finds Google.
//
// Everybody may sign in with any address; what stands before the @ becomes the name. An address that begins with
// "unverified" is one that the provider has not proven.

import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import Provider, { type Configuration } from "oidc-provider";

/** What the server under test is called by the provider. */
export const clientId = "lookbook-client";
export const clientSecret = "lookbook-secret";

/** How a server is told of the provider: as of Google, at another issuer. */
export function asGoogle(provider: IdentityProvider): Record<string, string> {
  return {
    SUPABASE_AUTH_EXTERNAL_GOOGLE_ENABLED: "true",
    SUPABASE_AUTH_EXTERNAL_GOOGLE_CLIENT_ID: clientId,
    SUPABASE_AUTH_EXTERNAL_GOOGLE_SECRET: clientSecret,
    SUPABASE_AUTH_EXTERNAL_GOOGLE_URL: provider.issuer,
  };
}

/** A running provider. */
export interface IdentityProvider {
  /** Its address: the issuer. */
  issuer: string;
  /** Lets the server under test in, once its address is known. */
  admit(apiUrl: string): void;
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
    admit: (apiUrl) => {
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
    // Google puts the claims into the ID token, and tells the name by `profile`.
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

/** The provider's own pages, and the protocol behind them. */
function requestHandler(provider: Provider) {
  const protocol = provider.callback();
  return (request: IncomingMessage, response: ServerResponse) => {
    if (!request.url?.startsWith("/interaction/")) {
      protocol(request, response);
      return;
    }
    interact(provider, request, response).catch((error: unknown) => {
      response.writeHead(500).end(String(error));
    });
  };
}

/** Signs in who says who they are, and asks nothing more: the consent page is the provider's business. */
async function interact(provider: Provider, request: IncomingMessage, response: ServerResponse) {
  const { prompt, params, session, grantId } = await provider.interactionDetails(request, response);
  const accountId = session?.accountId ?? "";
  if (prompt.name === "login" || accountId === "") {
    const email = request.method === "POST" ? await postedEmail(request) : hint(params);
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

function hint(params: Record<string, unknown>): string {
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
