// A third-party issuer of access tokens, as Clerk or Firebase are to a project: it publishes a discovery document and its keys,
// and signs whatever claims a test asks for.

import { generateKeyPairSync, type KeyObject, randomUUID, sign } from "node:crypto";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";

interface SigningKey {
  kid: string;
  privateKey: KeyObject;
  publicKey: KeyObject;
}

export class TokenIssuer {
  /** The issuer's address, the claim `iss` of its tokens. */
  readonly url: string;
  readonly #server: Server;
  #key = makeKey();

  private constructor(server: Server) {
    this.#server = server;
    this.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    server.on("request", (request, response) => {
      const documents: Record<string, unknown> = {
        "/.well-known/openid-configuration": { issuer: this.url, jwks_uri: `${this.url}/keys` },
        "/keys": {
          keys: [
            { ...this.#key.publicKey.export({ format: "jwk" }), kid: this.#key.kid, alg: "RS256" },
          ],
        },
      };
      const document = documents[request.url ?? ""];
      response.writeHead(document ? 200 : 404, { "content-type": "application/json" });
      response.end(JSON.stringify(document ?? {}));
    });
  }

  static async start(): Promise<TokenIssuer> {
    const server = createServer();
    await new Promise<void>((ready) => server.listen(0, "127.0.0.1", ready));
    return new TokenIssuer(server);
  }

  /** A token for an hour with these claims; `iss` is the issuer's own unless they name another. */
  issue(claims: Record<string, unknown>): string {
    const now = Math.floor(Date.now() / 1000);
    const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString("base64url");
    const header = encode({ alg: "RS256", typ: "JWT", kid: this.#key.kid });
    const payload = encode({ iss: this.url, iat: now, exp: now + 3600, ...claims });
    const signature = sign("sha256", Buffer.from(`${header}.${payload}`), this.#key.privateKey);
    return `${header}.${payload}.${signature.toString("base64url")}`;
  }

  /** Replaces the key: from now on the issuer signs with, and publishes, only the new one. */
  rotate(): void {
    this.#key = makeKey();
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise<void>((closed) => this.#server.close(() => closed()));
  }
}

function makeKey(): SigningKey {
  return { kid: randomUUID(), ...generateKeyPairSync("rsa", { modulusLength: 2048 }) };
}
