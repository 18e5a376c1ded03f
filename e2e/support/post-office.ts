// A real SMTP server for the tests (the npm package `smtp-server`), with certificates and logins of the test's choosing. It can be
// closed and opened again on the same port, as another kind of server.

import type { AddressInfo } from "node:net";
import { generate } from "selfsigned";
import { SMTPServer, type SMTPServerOptions, type SMTPServerSession } from "smtp-server";

/** What a login must be. */
export const login = { user: "selvedge", pass: "pass word+1" };

/** A certificate for `localhost` that nobody has signed but itself. */
export interface Certificate {
  key: string;
  cert: string;
}

export async function selfSigned(): Promise<Certificate> {
  const made = await generate([{ name: "commonName", value: "localhost" }], {
    keyType: "ec",
    curve: "P-256",
    algorithm: "sha256",
    extensions: [
      { name: "basicConstraints", cA: false },
      { name: "subjectAltName", altNames: [{ type: 2, value: "localhost" }] },
    ],
  });
  return { key: made.private, cert: made.cert };
}

/** One mail as it arrived. */
export interface Letter {
  to: string;
  /** The message, headers and all. */
  text: string;
  isEncrypted: boolean;
}

/** A server that takes mails. */
export class PostOffice {
  readonly letters: Letter[] = [];
  /** How somebody tried to log in, and as whom. */
  readonly logins: string[] = [];
  /** Connections so far, whatever became of them. */
  visits = 0;
  readonly #server: SMTPServer;

  private constructor(options: SMTPServerOptions, accepts: boolean) {
    this.#server = new SMTPServer({
      authMethods: ["PLAIN", "LOGIN"],
      disableReverseLookup: true,
      // Clients keep connections for later; who closes does not wait for them.
      closeTimeout: 100,
      ...options,
      onConnect: (_session, done) => {
        this.visits += 1;
        done();
      },
      onAuth: (auth, _session, done) => {
        this.logins.push(`${auth.method} ${auth.username}`);
        const isRight = auth.username === login.user && auth.password === login.pass && accepts;
        done(isRight ? null : new Error("Invalid username or password"), { user: auth.username });
      },
      onData: (stream, session, done) => {
        const chunks: Buffer[] = [];
        stream.on("data", (chunk: Buffer) => chunks.push(chunk));
        stream.on("end", () => {
          this.#take(session, Buffer.concat(chunks).toString());
          done();
        });
      },
    });
    // A client that does not trust the certificate hangs up in the middle of the handshake.
    this.#server.on("error", () => {});
  }

  /** Opens on this port, or on a free one. */
  static async open(options: SMTPServerOptions, port = 0, accepts = true): Promise<PostOffice> {
    const office = new PostOffice(options, accepts);
    await new Promise<void>((ready, failed) => {
      office.#server.server.once("error", failed);
      office.#server.listen(port, "127.0.0.1", ready);
    });
    return office;
  }

  get port(): number {
    return (this.#server.server.address() as AddressInfo).port;
  }

  /** The recipients so far, each once: a mail may come twice, never not at all. */
  get recipients(): string[] {
    return [...new Set(this.letters.map((letter) => letter.to))].sort();
  }

  async close(): Promise<void> {
    await new Promise<void>((closed) => this.#server.close(closed));
  }

  #take(session: SMTPServerSession, text: string) {
    for (const recipient of session.envelope.rcptTo) {
      this.letters.push({ to: recipient.address, text, isEncrypted: session.secure });
    }
  }
}
