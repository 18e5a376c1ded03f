// A project whose users sign in elsewhere: the stock client with `accessToken`, and tokens of a third-party issuer
// (`[auth.third_party]`). Its user ids are no UUIDs.

import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import {
  createClient,
  type SupabaseClient,
  type WebSocketLikeConstructor,
} from "@supabase/supabase-js";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import WebSocket from "ws";
import { anonKey, serviceKey } from "../support/clients.ts";
import { makeProject, type ProjectFolder } from "../support/project.ts";
import { type Selvedge, startSelvedge } from "../support/selvedge.ts";
import { TokenIssuer } from "../support/token-issuer.ts";

const migration = `
create table public.notes (
  id bigint generated always as identity primary key,
  owner text not null default auth.jwt() ->> 'sub',
  body text not null
);
alter table public.notes enable row level security;
create policy "owners" on public.notes to authenticated
  using (owner = auth.jwt() ->> 'sub') with check (owner = auth.jwt() ->> 'sub');
insert into storage.buckets (id, name) values ('files', 'files');
create policy "folders" on storage.objects to authenticated
  using (bucket_id = 'files' and (storage.foldername(name))[1] = auth.jwt() ->> 'sub')
  with check (bucket_id = 'files' and (storage.foldername(name))[1] = auth.jwt() ->> 'sub');
create policy "channels" on realtime.messages to authenticated
  using (realtime.topic() = 'room:' || (auth.jwt() ->> 'sub'));
`;

let issuer: TokenIssuer;
let project: ProjectFolder;
let server: Selvedge;

beforeAll(async () => {
  issuer = await TokenIssuer.start();
  project = await makeProject("third-party", migration);
  await writeFile(
    join(project.path, "config.toml"),
    `project_id = "third-party"
[auth.third_party.workos]
enabled = true
issuer_url = "${issuer.url}"
[db.vault]
stripe_key = "sk_test_1"
from_variable = "env(TEST_VAULT_SECRET)"
left_out = "env(TEST_VAULT_SECRET_THAT_IS_NOT_SET)"
`,
  );
  server = await startSelvedge(project.path, [], { TEST_VAULT_SECRET: "from the environment" });
});

afterAll(async () => {
  await server?.stop();
  await issuer?.stop();
  await project?.remove();
});

/** The stock client of a user who has signed in at the issuer. */
function clientWith(token: string): SupabaseClient {
  return createClient(server.apiUrl, anonKey, {
    accessToken: async () => token,
    realtime: { transport: WebSocket as unknown as WebSocketLikeConstructor },
  });
}

const user = (sub: string) => issuer.issue({ sub, role: "authenticated" });

test("gw_011 third-party users reach their own rows, files and channels", async () => {
  const ana = clientWith(user("user_ana"));
  const ben = clientWith(user("user_ben"));

  const inserted = await ana.from("notes").insert({ body: "hello" }).select();
  const upload = await ana.storage.from("files").upload("user_ana/a.txt", "text");
  const signed = await ana.storage.from("files").createSignedUrl("user_ana/a.txt", 60);

  expect(inserted.error).toBeNull();
  expect(inserted.data?.[0]).toMatchObject({ owner: "user_ana", body: "hello" });
  expect(upload.error).toBeNull();
  expect(await (await fetch(signed.data?.signedUrl ?? "")).text()).toBe("text");
  expect((await ben.from("notes").select()).data).toEqual([]);
  expect((await ben.storage.from("files").download("user_ana/a.txt")).error).not.toBeNull();
  expect((await ben.storage.from("files").upload("user_ana/b.txt", "text")).error).not.toBeNull();

  const join = (client: SupabaseClient) =>
    new Promise<string>((done) => {
      const channel = client.channel("room:user_ana", { config: { private: true } });
      channel.subscribe((status) => done(status));
    });
  await ana.realtime.setAuth();
  await ben.realtime.setAuth();
  expect(await join(ana)).toBe("SUBSCRIBED");
  expect(await join(ben)).toBe("CHANNEL_ERROR");
  await ana.removeAllChannels();
  await ben.removeAllChannels();
});

test("gw_011 tokens of others and forged ones are refused, and Auth knows only its own users", async () => {
  const stranger = await TokenIssuer.start();
  const forgeries = [
    stranger.issue({ iss: issuer.url, sub: "user_ana", role: "authenticated" }),
    issuer.issue({ iss: "https://another.example", sub: "user_ana", role: "authenticated" }),
    issuer.issue({ sub: "user_ana", role: "authenticated", exp: 1 }),
  ];
  await stranger.stop();

  for (const token of forgeries) {
    const response = await clientWith(token).from("notes").select();
    expect(response.status).toBe(401);
  }
  for (const [path, role] of [
    ["user", "authenticated"],
    ["admin/users", "service_role"],
  ]) {
    const response = await fetch(`${server.apiUrl}/auth/v1/${path}`, {
      headers: {
        apikey: anonKey,
        authorization: `Bearer ${issuer.issue({ sub: "user_ana", role })}`,
      },
    });
    expect(response.status).toBe(403);
  }
  // What names an object and its bucket is a signed URL only if the project has signed it.
  const forged = issuer.issue({ url: "files/user_ana/a.txt" });
  const response = await fetch(
    `${server.apiUrl}/storage/v1/object/sign/files/user_ana/a.txt?token=${forged}`,
  );
  expect(response.status).toBe(400);
});

test("gw_011 a new key of the issuer is fetched when a token names it, and the old one is forgotten", async () => {
  const before = user("user_ana");
  issuer.rotate();
  const after = clientWith(user("user_ana"));

  await vi.waitFor(async () => expect((await after.from("notes").select()).status).toBe(200), {
    timeout: 30_000,
    interval: 500,
  });

  expect((await clientWith(before).from("notes").select()).status).toBe(401);
});

test("gw_028 secrets of db.vault are in the vault, and changed ones after the next start", async () => {
  const readSecrets = async () => {
    const query = "select name, decrypted_secret from vault.decrypted_secrets order by name";
    const response = await fetch(`${server.apiUrl}/pg/query`, {
      method: "POST",
      headers: { apikey: serviceKey, "content-type": "application/json" },
      body: JSON.stringify({ query }),
    });
    const rows: { name: string; decrypted_secret: string }[] = await response.json();
    return rows.map((row) => [row.name, row.decrypted_secret]);
  };

  expect(await readSecrets()).toEqual([
    ["from_variable", "from the environment"],
    ["stripe_key", "sk_test_1"],
  ]);

  await server.kill();
  await server.restart({ TEST_VAULT_SECRET: "changed" });

  expect(await readSecrets()).toEqual([
    ["from_variable", "changed"],
    ["stripe_key", "sk_test_1"],
  ]);
});
