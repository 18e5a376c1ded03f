// A real SAML identity provider for the tests: the npm package `samlify` with a sign-in page. It reads the signed request
// of the server under test and lets the browser post a signed response.

import { generateKeyPairSync } from "node:crypto";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import * as samlify from "samlify";
import { generate } from "selfsigned";

/** Settings that switch on SAML in the server under test, with a key of this run. */
export function samlSettings(): Record<string, string> {
  const { privateKey } = generateKeyPairSync("rsa", {
    modulusLength: 2048,
    publicKeyEncoding: { type: "spki", format: "der" },
    privateKeyEncoding: { type: "pkcs1", format: "der" },
  });
  return {
    GOTRUE_SAML_ENABLED: "true",
    GOTRUE_SAML_PRIVATE_KEY: privateKey.toString("base64"),
  };
}

/** A running provider. */
export interface SamlProvider {
  metadata: string;
  /** Where a user begins who has not been at the application before. */
  startUrl: string;
  stop(): Promise<void>;
}

/** The form with the response that the provider's page at this URL lets the browser post. */
export async function readSamlForm(pageUrl: string): Promise<URLSearchParams> {
  const page = await (await fetch(pageUrl)).text();
  const fields = page.matchAll(/type="hidden" name="(\w+)" value="([^"]*)"/g);
  return new URLSearchParams([...fields].map(([, name = "", value = ""]) => [name, value]));
}

/** Starts the provider on a free port. `email` is the user who signs in by pressing the button of its page. */
export async function startSamlProvider(apiUrl: string, email: string): Promise<SamlProvider> {
  // The messages are checked by the provider's own code; the schema files would need a Java program.
  samlify.setSchemaValidator({ validate: async () => "skipped" });
  const response = await fetch(`${apiUrl}/auth/v1/sso/saml/metadata`);
  const service = samlify.ServiceProvider({ metadata: await response.text() });
  let handle: (request: IncomingMessage, response: ServerResponse) => void = () => {};
  const server = createServer((request, response) => handle(request, response));
  await new Promise<void>((ready) => server.listen(0, "127.0.0.1", ready));
  const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const pair = await generate([{ name: "commonName", value: "idp.test" }], { keySize: 2048 });
  const provider = samlify.IdentityProvider({
    entityID: `${base}/metadata`,
    privateKey: pair.private,
    signingCert: pair.cert,
    requestSignatureAlgorithm: "http://www.w3.org/2001/04/xmldsig-more#rsa-sha256",
    nameIDFormat: ["urn:oasis:names:tc:SAML:1.1:nameid-format:emailAddress"],
    singleSignOnService: [
      {
        Binding: samlify.Constants.namespace.binding.redirect,
        Location: `${base}/sso`,
      },
    ],
  });
  handle = (request, response) => {
    showPage(provider, service, email, request).then(
      (page) => response.writeHead(200, { "content-type": "text/html" }).end(page),
      (error: unknown) => response.writeHead(400).end(String(error)),
    );
  };
  return {
    metadata: provider.getMetadata(),
    startUrl: `${base}/start`,
    stop: () => close(server),
  };
}

/** The sign-in page: a form that posts the response when its button is pressed. */
async function showPage(
  provider: samlify.IdentityProviderInstance,
  service: samlify.ServiceProviderInstance,
  email: string,
  request: IncomingMessage,
): Promise<string> {
  const url = new URL(request.url ?? "/", "http://provider");
  const query = Object.fromEntries(url.searchParams);
  // Without a request the response answers none, as in a sign-in that begins at the provider.
  const { extract } =
    query.SAMLRequest === undefined
      ? { extract: {} }
      : await provider.parseLoginRequest(service, "redirect", { query });
  const { context } = await provider.createLoginResponse(service, { extract }, "post", {
    email,
  });
  const target = service.entityMeta.getAssertionConsumerService("post");
  return `<!doctype html><html lang="en"><title>Identity provider</title><main><h1>Sign in as ${email}</h1>
    <form method="post" action="${target}"><input type="hidden" name="SAMLResponse" value="${context}">
    <input type="hidden" name="RelayState" value="${query.RelayState ?? ""}"><button>Sign in</button></form></main></html>`;
}

function close(server: Server): Promise<void> {
  server.closeAllConnections();
  return new Promise((closed) => server.close(() => closed()));
}
