// Functions in the styles that projects use, called by the stock client and by plain requests. One server for all.

import { createHash, createHmac, randomBytes } from "node:crypto";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import {
  createClient,
  FunctionsFetchError,
  FunctionsHttpError,
  type SupabaseClient,
  type WebSocketLikeConstructor,
} from "@supabase/supabase-js";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import WebSocket from "ws";
import { client, localKey, password } from "../support/clients.ts";
import { eventually, type FunctionsServer, startFunctions } from "../support/functions.ts";

let server: FunctionsServer;
let visitor: SupabaseClient;

beforeAll(async () => {
  server = await startFunctions();
  visitor = client(localKey("anon"), server.apiUrl);
});

afterAll(async () => {
  await server?.stop();
});

describe("gw_039 functions-js", () => {
  test("invokes a function with a JSON body", async () => {
    const { data, error } = await visitor.functions.invoke("hello", { body: { name: "World" } });

    expect(error).toBeNull();
    expect(data).toEqual({ message: "Hello World!" });
  });

  test("sends text, bytes and forms with their content types", async () => {
    const form = new FormData();
    form.append("a", "1");
    const bodies = ["text", new Uint8Array([1, 2, 3]).buffer, new Blob(["blob"]), form];
    const results = await Promise.all(
      bodies.map((body) => visitor.functions.invoke("bytes", { body })),
    );

    expect(results.map(({ data }) => data.type.split(";")[0])).toEqual([
      "text/plain",
      "application/octet-stream",
      "application/octet-stream",
      "multipart/form-data",
    ]);
    expect(results.slice(0, 3).map(({ data }) => data.length)).toEqual([4, 3, 4]);
  });

  test("reads binary responses as blobs", async () => {
    const { data } = await visitor.functions.invoke("echo", { body: "some bytes" });

    expect(data).toBeInstanceOf(Blob);
    expect(await data.text()).toBe("some bytes");
  });

  test("maps a status to FunctionsHttpError, whose context is the response", async () => {
    const { error, response } = await visitor.functions.invoke("webhook", { body: "unsigned" });

    expect(error).toBeInstanceOf(FunctionsHttpError);
    expect(await error.context.text()).toBe("bad signature");
    expect(response?.status).toBe(400);
  });

  test("maps a broken connection to FunctionsFetchError", async () => {
    const nowhere = client(localKey("anon"), "http://127.0.0.1:9");
    const { error } = await nowhere.functions.invoke("hello", { body: {} });

    expect(error).toBeInstanceOf(FunctionsFetchError);
  });
});

describe("gw_036 authorization", () => {
  const call = (headers: Record<string, string>, method = "POST") =>
    fetch(`${server.apiUrl}/functions/v1/default-export`, { method, headers });

  test("refuses calls without a valid JWT in the original's words", async () => {
    const expired = `Bearer ${localKey("anon").slice(0, -3)}abc`;
    const cases: [Record<string, string>, string][] = [
      [{}, "Error: Missing authorization header"],
      [{ Authorization: "Basic abc" }, "Error: Auth header is not 'Bearer {token}'"],
      [{ apikey: localKey("anon") }, "Error: Auth header is not 'Bearer {token}'"],
      [{ Authorization: expired }, "Invalid JWT"],
      [{ Authorization: "Bearer x" }, "TypeError: Invalid Token or Protected Header formatting"],
    ];
    for (const [headers, msg] of cases) {
      const response = await call(headers);
      expect([response.status, await response.json()]).toEqual([401, { msg }]);
    }
  });

  test("accepts an opaque key alone, and shows the function the JWT of its role", async () => {
    const publishable = ["sb_publishable_", "ACJWlzQHlZjBrEguHvfOxg_3BJgxAaH"].join("");
    const seen = await fetch(`${server.apiUrl}/functions/v1/public/headers`, {
      headers: { apikey: publishable },
    });

    expect((await call({ apikey: publishable })).status).toBe(200);
    const [, payload] = (await seen.json()).authorization.split(".");
    expect(JSON.parse(Buffer.from(payload, "base64url").toString()).role).toBe("anon");
  });

  test("checks no OPTIONS request, and no function with verify_jwt = false", async () => {
    const url = `${server.apiUrl}/functions/v1`;
    const options = await fetch(`${url}/hello`, { method: "OPTIONS" });

    expect([options.status, await options.text()]).toEqual([200, "ok"]);
    expect(await (await fetch(`${url}/public`)).text()).toBe("public");
  });

  test("answers a browser's preflight itself, and sends the CORS header once", async () => {
    const preflight = await fetch(`${server.apiUrl}/functions/v1/hello`, {
      method: "OPTIONS",
      headers: {
        Origin: "http://localhost:3000",
        "Access-Control-Request-Method": "POST",
        "Access-Control-Request-Headers": "authorization, x-own",
      },
    });
    const answer = await server.call("hello", { method: "POST", body: '{"name":"x"}' });

    expect(preflight.status).toBe(200);
    expect(await preflight.text()).toBe("");
    expect(preflight.headers.get("access-control-allow-headers")).toBe("authorization, x-own");
    expect(answer.headers.get("access-control-allow-origin")).toBe("*");
  });
});

describe("gw_035 paths, methods and statuses", () => {
  test("the function sees its name, the sub-path and the query", async () => {
    const put = await server.call("default-export/a/b%20c?x=1&y=2", { method: "PUT" });
    const expected = { method: "PUT", path: "/default-export/a/b%20c", search: "?x=1&y=2" };

    expect(await put.json()).toEqual(expected);
    const head = await server.call("default-export", { method: "HEAD" });
    expect([head.status, await head.text()]).toEqual([200, ""]);
  });

  test("unknown, empty and disabled names are 404 in plain text", async () => {
    for (const path of ["nothing", "", "switched-off", "_shared"]) {
      const response = await server.call(path);
      expect([path, response.status, await response.text()]).toEqual([
        path,
        404,
        "Function not found",
      ]);
      expect(response.headers.get("content-type")).toMatch(/^text\/plain/);
    }
  });

  test("redirects pass through, and statuses without a body have none", async () => {
    const redirect = await server.call("public/redirect", { redirect: "manual" });
    const empty = await server.call("public/status/204");

    expect([redirect.status, redirect.headers.get("location")]).toEqual([
      302,
      "https://example.com/elsewhere",
    ]);
    expect([empty.status, await empty.text()]).toEqual([204, ""]);
  });

  test("headers pass both ways, several cookies included", async () => {
    const response = await server.call("public/headers", { headers: { "X-Client-Info": "test" } });
    const seen = await response.json();

    expect(response.headers.getSetCookie()).toEqual(["a=1", "b=2"]);
    expect(response.headers.get("x-own")).toBe("1");
    expect(seen).toMatchObject({ "x-client-info": "test", "x-forwarded-for": "127.0.0.1" });
    expect(seen["x-request-id"]).toBe(response.headers.get("x-request-id"));
  });

  test("the health of the runtime is answered", async () => {
    const response = await fetch(`${server.apiUrl}/functions/v1/_internal/health`);

    expect(await response.json()).toEqual({ message: "ok" });
  });
});

describe("gw_040 entry forms and imports", () => {
  test("std serve, with an address of deno.land in the import map", async () => {
    const post = await server.call("std-serve", { method: "POST", body: "body" });
    const more = await Promise.all(
      Array.from({ length: 20 }, (_, index) => server.call(`std-serve/${index}`)),
    );

    expect(await post.text()).toBe("std POST body");
    expect(more.every(({ status }) => status === 200)).toBe(true);
  });

  test("a framework with a base path from npm", async () => {
    const item = await server.call("hono-app/items/7");
    const made = await server.call("hono-app/items", { method: "POST", body: '{"a":1}' });

    expect(await item.json()).toEqual({ id: "7" });
    expect([made.status, await made.json()]).toEqual([201, { made: { a: 1 } }]);
  });

  test("another entrypoint, import_map.json, package.json and static files", async () => {
    const texts = ["elsewhere", "old-map", "own-package", "pages"].map(async (path) =>
      (await server.call(path)).text(),
    );

    expect(await Promise.all(texts)).toEqual([
      "from elsewhere",
      "through import_map.json",
      "through package.json",
      "<h1>A page of its own</h1>\n",
    ]);
    expect(server.output()).toContain("deprecated import_map.json");
  });
});

describe("gw_040 handlers that do the unusual", () => {
  test("onError answers for a handler that throws, and onListen is told the fixed port", async () => {
    const response = await server.call("on-error");

    expect([response.status, await response.json()]).toEqual([418, { caught: "left to onError" }]);
    expect(server.output()).toContain("listening at 0.0.0.0:9999");
  });

  test("a handler without a response is a 500, and a default export that cannot be called a BOOT_ERROR", async () => {
    const [none, wrong] = await Promise.all([
      server.call("no-response"),
      server.call("bad-export"),
    ]);

    expect(none.status).toBe(500);
    expect([wrong.status, (await wrong.json()).code]).toEqual([503, "BOOT_ERROR"]);
    expect(server.output()).toContain("Invalid type for fetch");
  });

  test("a rejection that the function takes upon itself does not end its worker", async () => {
    const calls = [];
    for (let index = 0; index < 2; index += 1) {
      calls.push(await (await server.call("tolerant")).json());
    }

    expect(calls).toEqual([{ calls: 1 }, { calls: 2 }]);
  });

  test("HEAD gets the head that GET gets, without a body", async () => {
    const response = await server.call("default-export", { method: "HEAD" });

    expect([response.status, await response.text()]).toEqual([200, ""]);
  });
});

describe("gw_041 what a function sees", () => {
  test("its variables are the platform's, the project's and its own, and nothing else", async () => {
    const { env } = await (await server.call("variables")).json();

    expect(env).toMatchObject({
      SUPABASE_URL: server.apiUrl,
      SUPABASE_ANON_KEY: expect.stringMatching(/^ey/),
      SUPABASE_SERVICE_ROLE_KEY: expect.stringMatching(/^ey/),
      SUPABASE_DB_URL: server.databaseUrl,
      SHARED_SECRET: "file-wins",
      FROM_FILE: "from-file",
      OWN: "from-function",
    });
    expect(JSON.parse(env.SUPABASE_JWKS).keys).toHaveLength(1);
    expect(JSON.parse(env.SUPABASE_PUBLISHABLE_KEYS).default).toMatch(/^sb_publishable_/);
    for (const hidden of ["HOME", "PATH", "PWD", "HOSTNAME", "DENO_DIR", "SUPABASE_EVIL"]) {
      expect(env).not.toHaveProperty(hidden);
    }
    expect(server.output()).toContain(
      "Env name cannot start with SUPABASE_, skipping: SUPABASE_EVIL",
    );
  });

  test("it reads its own files, writes to /tmp, and is refused the rest", async () => {
    const seen = await (await server.call("variables")).json();

    expect(seen).toMatchObject({
      args: [],
      note: "kept",
      own: true,
      exit: "allowed",
      rename: "PermissionDenied",
      sync: "PermissionDenied",
      worker: "undefined",
    });
    expect(seen.outside).not.toBe("allowed");
    expect(seen.program).not.toBe("allowed");
    expect(seen.file).toMatch(/^\/tmp\//);
    expect(seen.version).toMatch(/^supabase-edge-runtime-.* \(compatible with Deno v2/);
  });
});

describe("gw_038 bodies stream both ways", () => {
  test("events arrive while the function still sends", async () => {
    const response = await server.call("sse");
    const times: number[] = [];
    let text = "";
    const decoder = new TextDecoder();
    for await (const chunk of response.body ?? []) {
      times.push(Date.now());
      text += decoder.decode(chunk);
    }

    expect(response.headers.get("content-type")).toBe("text/event-stream");
    expect(text).toBe("data: 1\n\ndata: 2\n\ndata: 3\n\n");
    expect((times.at(-1) ?? 0) - (times[0] ?? 0)).toBeGreaterThan(150);
  });

  test("50 MB pass through in both directions unchanged", async () => {
    const sent = randomBytes(50 * 1024 * 1024);
    const response = await server.call("echo", { method: "POST", body: sent });
    const received = Buffer.from(await response.arrayBuffer());

    expect(received.length).toBe(sent.length);
    expect(received.equals(sent)).toBe(true);
  });

  test("a large body can be read whole", async () => {
    const sent = randomBytes(20 * 1024 * 1024);
    const response = await server.call("bytes", { method: "POST", body: sent });

    expect(await response.json()).toMatchObject({
      length: sent.length,
      digest: createHash("sha256").update(sent).digest("hex"),
    });
  });

  test("a language model's stream is passed on piece by piece", async () => {
    const model = createServer(async (_request, response) => {
      for (const word of ["one ", "two ", "three"]) {
        response.write(word);
        await new Promise((wake) => setTimeout(wake, 50));
      }
      response.end();
    });
    await new Promise<void>((ready) => model.listen(0, "127.0.0.1", ready));
    const upstream = `http://127.0.0.1:${(model.address() as AddressInfo).port}/`;

    const response = await server.call("completions", {
      method: "POST",
      body: JSON.stringify({ upstream }),
    });
    const pieces: string[] = [];
    for await (const chunk of response.body ?? []) {
      pieces.push(new TextDecoder().decode(chunk));
    }
    model.close();

    expect(pieces.join("")).toBe("ONE TWO THREE");
    expect(pieces.length).toBeGreaterThan(1);
  });
});

describe("functions and the rest of the project", () => {
  test("a function with the caller's token sees the caller's rows only", async () => {
    const people = await Promise.all(
      ["ana", "ben"].map(async (name) => {
        const person = createClient(server.apiUrl, localKey("anon"), {
          auth: { persistSession: false, autoRefreshToken: false },
          realtime: { transport: WebSocket as unknown as WebSocketLikeConstructor },
        });
        await person.auth.signUp({ email: `${name}@example.com`, password });
        await person.functions.invoke("own-notes", { body: { body: `note of ${name}` } });
        return person;
      }),
    );
    const seen = await Promise.all(
      people.map(async (person) => {
        const { data } = await person.functions.invoke("own-notes", { method: "GET" });
        return data;
      }),
    );

    expect(seen).toEqual([
      { data: [{ body: "note of ana" }], error: null },
      { data: [{ body: "note of ben" }], error: null },
    ]);
    expect(await (await server.call("all-notes")).json()).toEqual({ count: 2, error: null });
  });

  test("a form's file goes to storage", async () => {
    const form = new FormData();
    form.append("name", "hello.txt");
    form.append("file", new File(["some text"], "local.txt", { type: "text/plain" }));
    const { data } = await visitor.functions.invoke("upload", { body: form });
    const owner = client(localKey("service_role"), server.apiUrl);
    const stored = await owner.storage.from("files").download("hello.txt");

    expect(data).toEqual({ path: "hello.txt", size: 9 });
    expect(await stored.data?.text()).toBe("some text");
  });

  test("a function connects to the database", async () => {
    expect(await (await server.call("sql")).json()).toEqual({ login: "postgres", answer: 42 });
  });

  test("a webhook's signature covers the raw body", async () => {
    const body = '{ "type": "paid",  "amount": 1 }';
    const signature = createHmac("sha256", "whsec_test").update(`123.${body}`).digest("hex");
    const response = await fetch(`${server.apiUrl}/functions/v1/webhook`, {
      method: "POST",
      headers: { "X-Signature": `123,${signature}` },
      body,
    });

    expect(await response.json()).toEqual({ received: "paid" });
  });

  test("gw_042 work given to waitUntil is done after the response", async () => {
    const response = await server.call("background", { method: "POST", body: '{"name":"later"}' });
    const owner = client(localKey("service_role"), server.apiUrl);
    const readJobs = async () => (await owner.from("jobs").select("name")).data ?? [];

    expect([response.status, await readJobs()]).toEqual([202, []]);
    expect(await eventually(readJobs, (jobs) => jobs.length > 0)).toEqual([{ name: "later" }]);
  });
});

describe("WebSockets", () => {
  const url = (query: string) => `${server.apiUrl.replace("http", "ws")}/functions/v1/chat${query}`;

  test("members of a chat hear each other", async () => {
    const members = [1, 2].map(() => new WebSocket(url("?token=let-me-in")));
    await Promise.all(members.map((member) => new Promise((open) => member.on("open", open))));
    const heard = members.map(
      (member) => new Promise((done) => member.on("message", (data) => done(data.toString()))),
    );
    members[0]?.send("hello all");

    expect(await Promise.all(heard)).toEqual(["hello all", "hello all"]);
    for (const member of members) {
      member.close();
    }
  });

  test("the function's refusal reaches the client", async () => {
    const status = await new Promise((done) => {
      new WebSocket(url("?token=wrong"))
        .on("unexpected-response", (_request, response) => done(response.statusCode))
        .on("error", () => {});
    });

    expect(status).toBe(403);
  });
});
