// Runs SQL on a PostgreSQL server that requires no password, by the simple query protocol. That is enough for tests to
// prepare and check, and it does not need `psql`, which PostgreSQL from npm lacks.

import { connect } from "node:net";

/** How long a server may take. */
const timeoutMs = 20_000;

/** Runs statements as superuser, and returns all of their rows as texts. */
export function querySql(
  port: number,
  text: string,
  host = "127.0.0.1",
): Promise<(string | null)[][]> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, host);
    const rows: (string | null)[][] = [];
    let received = Buffer.alloc(0);
    let hasAsked = false;
    socket.setTimeout(timeoutMs, () => socket.destroy(new Error(`no answer on port ${port}`)));
    socket.once("error", reject).once("close", () => reject(new Error("the server hung up")));
    socket.once("connect", () => socket.write(startupMessage()));
    socket.on("data", (chunk) => {
      received = Buffer.concat([received, chunk]);
      while (received.length >= 5 && received.length > received.readUInt32BE(1)) {
        const length = received.readUInt32BE(1) + 1;
        const [type, body] = [String.fromCharCode(received[0] ?? 0), received.subarray(5, length)];
        received = received.subarray(length);
        if (type === "D") {
          rows.push(parseRow(body));
        } else if (type === "E") {
          reject(new Error(errorMessage(body)));
          socket.destroy();
        } else if (type === "Z" && hasAsked) {
          resolve(rows);
          socket.end();
        } else if (type === "Z") {
          hasAsked = true;
          socket.write(queryMessage(text));
        }
      }
    });
  });
}

function startupMessage(): Buffer {
  const body = Buffer.from("\0\x03\0\0user\0supabase_admin\0database\0postgres\0\0", "latin1");
  return Buffer.concat([uint32(body.length + 4), body]);
}

function queryMessage(text: string): Buffer {
  const body = Buffer.from(`${text}\0`);
  return Buffer.concat([Buffer.from("Q"), uint32(body.length + 4), body]);
}

function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
}

/** The columns of a `DataRow`: their number, then length and text of each. */
function parseRow(body: Buffer): (string | null)[] {
  let at = 2;
  return Array.from({ length: body.readUInt16BE(0) }, () => {
    const length = body.readInt32BE(at);
    const start = at + 4;
    at = start + Math.max(length, 0);
    return length < 0 ? null : body.toString("utf8", start, at);
  });
}

/** The field `M` of an `ErrorResponse`. */
function errorMessage(body: Buffer): string {
  const fields = body.toString("utf8").split("\0");
  return fields.find((field) => field.startsWith("M"))?.slice(1) ?? "an error without a message";
}
