// Database webhooks, jobs and the vault, as an application uses them through supabase-js.

import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import type { SupabaseClient } from "@supabase/supabase-js";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { anonKey, client, serviceKey } from "../support/clients.ts";
import { makeProject, type ProjectFolder } from "../support/project.ts";
import { type Selvedge, startSelvedge } from "../support/selvedge.ts";

const patience = { timeout: 30_000, interval: 50 };

interface Call {
  method: string | undefined;
  key: string | string[] | undefined;
  body: unknown;
}

const calls: Call[] = [];
let receiver: Server;
let project: ProjectFolder;
let server: Selvedge;
let service: SupabaseClient;

function migration(receiverUrl: string): string {
  return `
create extension if not exists "pg_net" with schema "extensions";
create extension if not exists pg_cron with schema pg_catalog;
create extension if not exists "supabase_vault" with schema "vault";
create table public.notes (id bigint generated always as identity primary key, body text not null);
create trigger notes_webhook after insert on public.notes for each row execute function
  supabase_functions.http_request('${receiverUrl}', 'POST', '{"X-Key":"k"}', '{}', '5000');
create table public.ticks (at timestamptz not null default now(), by_role text not null default current_user);
select cron.schedule('tick', '1 second', 'insert into public.ticks default values');
create function public.save_key(name text, value text) returns uuid language sql security definer
  as $$ select vault.create_secret(value, name) $$;
create function public.read_key(name text) returns text language sql security definer
  as $$ select s.decrypted_secret from vault.decrypted_secrets as s where s.name = read_key.name $$;
revoke execute on function public.save_key, public.read_key from public, anon, authenticated;
`;
}

beforeAll(async () => {
  receiver = createServer((request, response) => {
    let text = "";
    request.setEncoding("utf8").on("data", (part: string) => {
      text += part;
    });
    request.on("end", () => {
      calls.push({
        method: request.method,
        key: request.headers["x-key"],
        body: JSON.parse(text),
      });
      response.end("thanks");
    });
  });
  await new Promise<void>((ready) => receiver.listen(0, "127.0.0.1", ready));
  const { port } = receiver.address() as AddressInfo;
  project = await makeProject("extensions", migration(`http://127.0.0.1:${port}/hook`));
  server = await startSelvedge(project.path);
  service = client(serviceKey, server.apiUrl);
});

afterAll(async () => {
  await server?.stop();
  await project?.remove();
  receiver?.close();
});

test("a database webhook sends the inserted row", async () => {
  const { error } = await client(anonKey, server.apiUrl).from("notes").insert({ body: "first" });
  expect(error).toBeNull();

  await vi.waitFor(() => expect(calls).toHaveLength(1), patience);

  const record = { id: 1, body: "first" };
  expect(calls[0]).toEqual({
    method: "POST",
    key: "k",
    body: { type: "INSERT", table: "notes", schema: "public", record, old_record: null },
  });
  await vi.waitFor(async () => {
    const metrics = await (await fetch(`${server.apiUrl}/metrics`)).text();
    expect(metrics).toContain("selvedge_jobs_leader 1");
    expect(metrics).toContain('selvedge_jobs_net_requests_total{outcome="response"} 1');
  }, patience);
});

test("a job runs as the role that scheduled it", async () => {
  await vi.waitFor(async () => {
    const { data } = await service.from("ticks").select("by_role").limit(1);
    expect(data).toEqual([{ by_role: "postgres" }]);
  }, patience);
});

test("a secret survives a crash, and only functions that may read it return it", async () => {
  const saved = await service.rpc("save_key", { name: "mail", value: "s3cret" });
  expect(saved.error).toBeNull();
  await server.kill();
  await server.restart();

  const { data } = await service.rpc("read_key", { name: "mail" });
  expect(data).toBe("s3cret");
  const refused = await client(anonKey, server.apiUrl).rpc("read_key", { name: "mail" });
  expect(refused.error?.code).toBe("42501");
  const hidden = await service.schema("vault").from("decrypted_secrets").select();
  expect(hidden.error?.code).toBe("PGRST106");
});
