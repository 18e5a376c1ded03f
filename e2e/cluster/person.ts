// A simulated person: signs in, writes and reads notes, uploads and downloads files, sends and receives broadcasts. Every response is
// checked: no acknowledged write may be missing, and no row or file of another person may be visible.

import { createHash, randomBytes, randomUUID } from "node:crypto";
import type { RealtimeChannel, SupabaseClient } from "@supabase/supabase-js";
import { openBrowser, send, tryWork } from "./browser.ts";
import { pause, until } from "./conditions.ts";
import type { Kind, Ledger } from "./ledger.ts";
import { uploadByTwoNodes } from "./resumable.ts";
import { pooledUrl } from "./topology.ts";

const password = "Lookbook-2026";
/** Rows per page. */
const pageRows = 20;
/** Bytes. Most files are much smaller, because all of them stay in memory until the end of the run. */
const largestFile = 200_000;

export const schema = `
  create table public.notes (
    id uuid primary key,
    author uuid not null default auth.uid(),
    made bigint generated always as identity
  );
  create index on public.notes (author, made);
  alter table public.notes enable row level security;
  create policy "people read and write their own notes" on public.notes for all to authenticated
    using (author = (select auth.uid())) with check (author = (select auth.uid()));
  grant select, insert on public.notes to authenticated;
  alter publication supabase_realtime add table public.notes;
  insert into storage.buckets (id, name) values ('files', 'files');
  create policy "people read and write their own files" on storage.objects for all to authenticated
    using (bucket_id = 'files' and (storage.foldername(name))[1] = (select auth.uid())::text)
    with check (bucket_id = 'files' and (storage.foldername(name))[1] = (select auth.uid())::text);
`;

export class Person {
  readonly id: string;
  readonly #email: string;
  readonly #client: SupabaseClient;
  readonly #ledger: Ledger;
  readonly #key: string;
  readonly #notes: string[] = [];
  readonly #files: { path: string; hash: string }[] = [];
  /** The latest number of each person's each join. */
  readonly #heard = new Map<string, number>();
  #channel: RealtimeChannel | undefined;
  #isJoined = false;
  #isGoing = true;
  #said = 0;
  /** How often the room was joined. */
  #joins = 0;

  private constructor(
    id: string,
    email: string,
    client: SupabaseClient,
    key: string,
    ledger: Ledger,
  ) {
    this.id = id;
    this.#email = email;
    this.#client = client;
    this.#key = key;
    this.#ledger = ledger;
  }

  /** Signs up, signs in and joins the room. */
  static async join(key: string, ledger: Ledger): Promise<Person> {
    const client = openBrowser(key);
    const email = `person-${randomUUID().slice(0, 12)}@cluster.test`;
    const { data, error } = await client.auth.signUp({ email, password });
    if (error !== null || data.user === null) {
      throw error ?? new Error("there is no user");
    }
    const person = new Person(data.user.id, email, client, key, ledger);
    person.#listen();
    await until(() => person.#isJoined, "the room is joined");
    return person;
  }

  /** Works until {@link leave}. Downloads of files of `others` must be refused. */
  async work(others: Person[]): Promise<void> {
    await Promise.all([
      this.#repeat(20, () => this.#writeAndRead()),
      this.#repeat(50, () => this.#readPage()),
      this.#repeat(100, () => this.#uploadAndDownload(others)),
      this.#repeat(500, () => this.#uploadResumably()),
      this.#repeat(1_000, () => this.#signIn()),
      this.#repeat(100, () => this.#readPooled()),
      this.#repeat(200, () => this.#talk()),
    ]);
  }

  async leave(): Promise<void> {
    this.#isGoing = false;
    await this.#client.removeAllChannels();
    this.#client.realtime.disconnect();
  }

  /** Downloads every file whose upload was acknowledged, and records a violation if one is missing or differs. */
  async checkFiles(): Promise<void> {
    for (const file of this.#files) {
      await this.#download(file);
    }
  }

  async #repeat(intervalMs: number, step: () => Promise<void>): Promise<void> {
    while (this.#isGoing) {
      await step();
      await pause(intervalMs);
    }
  }

  /** Runs an operation and returns whether it succeeded. Failures that a fault may cause are counted, others are violations. */
  async #attempt(kind: Kind, work: () => Promise<void>): Promise<boolean> {
    const { fault, broken } = await tryWork(work);
    for (const { message, failure } of broken) {
      if (failure === undefined) {
        this.#ledger.forbid(`${kind}: ${message}`);
      } else {
        this.#ledger.fail(kind, failure, message);
      }
    }
    if (fault === undefined) {
      this.#ledger.succeed(kind);
    } else if (broken.length === 0) {
      this.#ledger.forbid(`${kind}: ${fault}`);
    }
    return fault === undefined;
  }

  /** Writes a note and reads it immediately: replicas must not hide a person's own writes. */
  async #writeAndRead(): Promise<void> {
    const id = randomUUID();
    const isAcknowledged = await this.#attempt("write", async () => {
      check(await this.#client.from("notes").insert({ id }));
      this.#notes.push(id);
      this.#ledger.rows.set(id, this.id);
    });
    if (!isAcknowledged) {
      return;
    }
    const written = this.#notes.length;
    await this.#attempt("read", async () => {
      const rows = check(await this.#client.from("notes").select("id").eq("id", id)) as unknown[];
      if (rows.length !== 1) {
        this.#ledger.forbid(`stale: a note that was just written is missing`);
      }
    });
    await this.#attempt("read", async () => {
      const answer = await this.#client.from("notes").select("*", { count: "exact", head: true });
      check(answer);
      if ((answer.count ?? 0) < written) {
        this.#ledger.forbid(`stale: ${answer.count} notes of at least ${written}`);
      }
    });
  }

  async #readPage(): Promise<void> {
    await this.#attempt("read", async () => {
      const page = this.#client
        .from("notes")
        .select("id, author")
        .order("made", { ascending: false });
      this.#checkAuthors("rest", check(await page.limit(pageRows)) as { author: string }[]);
    });
  }

  /** Reads notes by `selvedge rest`, whose connections go through the poolers in transaction mode. */
  async #readPooled(): Promise<void> {
    const token = (await this.#client.auth.getSession()).data.session?.access_token ?? "";
    await this.#attempt("pooled", async () => {
      const url = new URL(`/notes?select=id,author&order=made.desc&limit=${pageRows}`, pooledUrl);
      const answer = await send(url, { headers: { authorization: `Bearer ${token}` } });
      this.#checkAuthors("pooled", (await answer.json()) as { author: string }[]);
    });
  }

  #checkAuthors(where: string, rows: { author: string }[]): void {
    if (!Array.isArray(rows)) {
      throw new Error(JSON.stringify(rows));
    }
    if (rows.some(({ author }) => author !== this.id)) {
      this.#ledger.forbid(`foreign: ${where} shows notes of another person`);
    }
  }

  async #uploadAndDownload(others: Person[]): Promise<void> {
    const bytes = randomBytes(1 + Math.floor(Math.random() ** 4 * largestFile));
    const path = `${this.id}/${randomUUID()}`;
    const bucket = this.#client.storage.from("files");
    await this.#attempt("upload", async () => {
      check(await bucket.upload(path, bytes, { contentType: "application/octet-stream" }));
      const hash = hashOf(bytes);
      this.#files.push({ path, hash });
      this.#ledger.objects.set(path, hash);
    });
    const file = this.#files[Math.floor(Math.random() * this.#files.length)];
    if (file !== undefined) {
      await this.#download(file);
    }
    const other = others.find((person) => person !== this)?.anyFile();
    if (other !== undefined) {
      await this.#attempt("download", async () => {
        const { data } = await this.#client.storage.from("files").download(other);
        if (data !== null) {
          this.#ledger.forbid("foreign: a file of another person could be downloaded");
        }
      });
    }
  }

  /** Uploads a file by two nodes at once. What one of them acknowledges must be there. */
  async #uploadResumably(): Promise<void> {
    const bytes = randomBytes(2 + Math.floor(Math.random() * largestFile));
    const path = `${this.id}/${randomUUID()}`;
    const token = (await this.#client.auth.getSession()).data.session?.access_token ?? "";
    const upload = { key: this.#key, token, path, bytes, replaces: Math.random() < 0.5 };
    const { isAcknowledged, unexpected } = await uploadByTwoNodes(upload);
    for (const answer of unexpected) {
      this.#ledger.forbid(answer);
    }
    if (isAcknowledged) {
      const hash = hashOf(bytes);
      this.#files.push({ path, hash });
      this.#ledger.objects.set(path, hash);
    }
  }

  /** Path of a file whose upload was acknowledged; undefined if there is none. */
  anyFile(): string | undefined {
    return this.#files.at(-1)?.path;
  }

  async #download({ path, hash }: { path: string; hash: string }): Promise<void> {
    await this.#attempt("download", async () => {
      const blob = check(await this.#client.storage.from("files").download(path)) as Blob;
      if (hashOf(Buffer.from(await blob.arrayBuffer())) !== hash) {
        this.#ledger.forbid(`lost: ${path} has other bytes`);
      }
    });
  }

  async #signIn(): Promise<void> {
    await this.#attempt("sign-in", async () => {
      const { data, error } = await openBrowser(this.#key).auth.signInWithPassword({
        email: this.#email,
        password,
      });
      check({ data, error });
      if (data.user?.id !== this.id) {
        this.#ledger.forbid("foreign: somebody else was signed in");
      }
    });
  }

  /** Broadcasts the next number to the room. It may get lost during a fault. */
  async #talk(): Promise<void> {
    // The stock client sends by HTTP while a channel is not joined.
    if (this.#isJoined) {
      this.#said += 1;
      const payload = { from: `${this.id}/${this.#joins}`, number: this.#said };
      await this.#channel?.send({ type: "broadcast", event: "said", payload }, { timeout: 2_000 });
    }
  }

  #listen(): void {
    this.#channel = this.#client
      .channel("room")
      .on("broadcast", { event: "said" }, ({ payload }) => this.#hear(payload.from, payload.number))
      .on("postgres_changes", { event: "INSERT", schema: "public", table: "notes" }, (change) => {
        if (change.new.author === this.id) {
          this.#ledger.succeed("change");
        } else {
          this.#ledger.forbid("foreign: a note of another person was announced");
        }
      })
      .subscribe((status) => {
        this.#isJoined = status === "SUBSCRIBED";
        this.#joins += this.#isJoined ? 1 : 0;
      });
  }

  /**
   * Checks that the numbers which a person sent between two joins arrive in order and only once. What the network still holds of
   * a lost connection may arrive after what was sent over the next one.
   */
  #hear(from: string, number: number): void {
    const before = this.#heard.get(from) ?? 0;
    if (number <= before) {
      this.#ledger.forbid(`broadcast: ${number} after ${before}`);
    }
    this.#heard.set(from, number);
    this.#ledger.succeed("broadcast");
  }
}

/** Returns the data of a response of the stock client; throws its error. */
function check<T>({ data, error }: { data: T; error: unknown }): T {
  if (error !== null) {
    throw new Error(`${error} ${JSON.stringify(error)}`);
  }
  return data;
}

function hashOf(bytes: Buffer): string {
  return createHash("sha256").update(bytes).digest("hex");
}
