// The parts of a node that write to the database by connections of their own, and where what they have acknowledged is stored.

import { randomUUID } from "node:crypto";
import { pause } from "./conditions.ts";
import type { Machine } from "./network.ts";
import type { PlainServer } from "./plain.ts";

export const parts = ["rest", "auth", "storage", "pg"] as const;
export type Part = (typeof parts)[number];

/** A request that takes longer counts as not acknowledged. In milliseconds. */
const answerMs = 10_000;
/** Nodes must acknowledge a write within this time, also on a busy computer. In milliseconds. */
const patienceMs = 60_000;

/** Requests to nodes with the secret key. */
export class Administrator {
  readonly #key: string;

  constructor(key: string) {
    this.#key = key;
  }

  /** Sends a request to a node; undefined without an answer. */
  async send(
    node: Machine,
    method: string,
    path: string,
    body?: string | Uint8Array<ArrayBuffer>,
    headers: Record<string, string> = {},
  ): Promise<Response | undefined> {
    const signal = AbortSignal.timeout(answerMs);
    return await fetch(`http://${node.address}:54321${path}`, {
      method,
      body: body ?? null,
      headers: {
        apikey: this.#key,
        authorization: `Bearer ${this.#key}`,
        ...(body === undefined ? {} : { "content-type": "application/json" }),
        ...headers,
      },
      signal,
    })
      .then(async (answer) => {
        const received = await answer.arrayBuffer();
        return new Response(answer.status === 204 ? null : received, answer);
      })
      .catch(() => undefined);
  }

  /** Writes something with this id by one part of a node; returns whether it was acknowledged. */
  async write(node: Machine, part: Part, id: string): Promise<boolean> {
    const request = requests[part](id);
    const answer = await this.send(node, "POST", ...request);
    return answer?.ok ?? false;
  }

  /**
   * Writes by one part of a node until that acknowledges it. Returns where it is: nothing may be anywhere else, also not what was not
   * acknowledged.
   */
  async writeAndFind(node: Machine, part: Part, servers: PlainServer[]): Promise<string[]> {
    const untilMs = performance.now() + patienceMs;
    const ids: string[] = [];
    do {
      const id = randomUUID();
      ids.push(id);
      if (await this.write(node, part, id)) {
        return await findAll(ids, servers);
      }
      await pause(200);
    } while (performance.now() < untilMs);
    return [`${part} of ${node.name} acknowledged nothing within ${patienceMs / 1_000} s`];
  }

  /** How many of these notes a node shows. */
  async countNotes(node: Machine, ids: string[]): Promise<number> {
    const answer = await this.#readNotes(node, ids);
    return answer?.status === 200 ? ((await answer.json()) as unknown[]).length : 0;
  }

  /**
   * Writes a note by one node and reads it by another at once, as a browser does that keeps cookies. Undefined when the write or the read
   * was not answered well, as while a server is lost.
   */
  async writeAndRead(writer: Machine, reader: Machine, id: string): Promise<boolean | undefined> {
    const written = await this.send(writer, "POST", ...requests.rest(id));
    const cookie = written?.headers.get("set-cookie")?.split(";")[0];
    if (!written?.ok || cookie === undefined) {
      return undefined;
    }
    const answer = await this.#readNotes(reader, [id], { cookie });
    return answer?.status === 200 ? ((await answer.json()) as unknown[]).length === 1 : undefined;
  }

  async #readNotes(
    node: Machine,
    ids: string[],
    headers: Record<string, string> = {},
  ): Promise<Response | undefined> {
    const path = `/rest/v1/notes?select=id&id=in.(${ids.join(",")})`;
    return await this.send(node, "GET", path, undefined, headers);
  }
}

const requests: Record<Part, (id: string) => [path: string, body: string]> = {
  rest: (id) => ["/rest/v1/notes", JSON.stringify({ id, author: id })],
  auth: (id) => [
    "/auth/v1/admin/users",
    JSON.stringify({ email: emailOf(id), email_confirm: true }),
  ],
  storage: (id) => [`/storage/v1/object/files/${id}`, JSON.stringify({ id })],
  pg: (id) => [
    "/pg/query",
    JSON.stringify({ query: `insert into public.notes (id, author) values ('${id}', '${id}')` }),
  ],
};

function emailOf(id: string): string {
  return `${id}@cluster.test`;
}

/** The servers on which something with one of these ids is. */
export async function findAll(ids: string[], servers: PlainServer[]): Promise<string[]> {
  const list = (values: string[]) => values.map((value) => `'${value}'`).join(",");
  const text = `select
    (select count(*) from public.notes where id in (${list(ids)}))
    + (select count(*) from auth.users where email in (${list(ids.map(emailOf))}))
    + (select count(*) from storage.objects where name in (${list(ids)}))`;
  const found = await Promise.all(
    servers.map(async (server) => Number(await server.value(text)) > 0),
  );
  return servers.filter((_, index) => found[index]).map(({ machine }) => machine.name);
}
