// A real SMTP server for the tests (the npm package `smtp-server`) with the certificate and the login methods that a
// test chooses. It can be closed, and opened again on the same port with other options.

import type { AddressInfo } from "node:net";
import { generate } from "selfsigned";
import { SMTPServer, type SMTPServerOptions, type SMTPServerSession } from "smtp-server";

/** The only user name and password that the server accepts. */
export const login = { user: "selvedge", pass: "pass word+1" };

/** A self-signed certificate for `localhost`, PEM. */
export interface Certificate {
  key: string;
  cert: string;
}

export async function makeCertificate(): Promise<Certificate> {
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

/** One received mail. */
export interface ReceivedMail {
  to: string;
  /** The whole message with its headers. */
  text: string;
  isEncrypted: boolean;
}

/** An SMTP server that records what it receives. */
export class TestSmtpServer {
  readonly mails: ReceivedMail[] = [];
  /** Login attempts: method and user name. */
  readonly logins: string[] = [];
  /** Connections so far, failed ones included. */
  connections = 0;
  readonly #server: SMTPServer;

  private constructor(options: SMTPServerOptions, accepts: boolean) {
    this.#server = new SMTPServer({
      authMethods: ["PLAIN", "LOGIN"],
      disableReverseLookup: true,
      // Clients keep idle connections open; closing must not wait for them.
      closeTimeout: 100,
      ...options,
      onConnect: (_session, done) => {
        this.connections += 1;
        done();
      },
      onAuth: (auth, _session, done) => {
        this.logins.push(`${auth.method} ${auth.username}`);
        const isAccepted = auth.username === login.user && auth.password === login.pass && accepts;
        done(isAccepted ? null : new Error("Invalid username or password"), {
          user: auth.username,
        });
      },
      onData: (stream, session, done) => {
        const chunks: Buffer[] = [];
        stream.on("data", (chunk: Buffer) => chunks.push(chunk));
        stream.on("end", () => {
          this.#record(session, Buffer.concat(chunks).toString());
          done();
        });
      },
    });
    // A client that rejects the certificate closes the connection during the handshake, which is reported as an error.
    this.#server.on("error", () => {});
  }

  /** Listens on this port, or on a free one. Without `accepts`, every login is refused. */
  static async open(options: SMTPServerOptions, port = 0, accepts = true): Promise<TestSmtpServer> {
    const server = new TestSmtpServer(options, accepts);
    await new Promise<void>((ready, failed) => {
      server.#server.server.once("error", failed);
      server.#server.listen(port, "127.0.0.1", ready);
    });
    return server;
  }

  get port(): number {
    return (this.#server.server.address() as AddressInfo).port;
  }

  /** The recipients so far, each once: a mail may be delivered twice after a crash, but must not be lost. */
  get recipients(): string[] {
    return [...new Set(this.mails.map((mail) => mail.to))].sort();
  }

  async close(): Promise<void> {
    await new Promise<void>((closed) => this.#server.close(closed));
  }

  #record(session: SMTPServerSession, text: string) {
    for (const recipient of session.envelope.rcptTo) {
      this.mails.push({ to: recipient.address, text, isEncrypted: session.secure });
    }
  }
}
