// The behaviour that functions-js' own tests expect of a server (test/spec/*.spec.ts): which token is used, what reaches the
// function, regions, and aborted calls. Its tests of the client alone need no server.

import { createHmac } from "node:crypto";
import { FunctionRegion, FunctionsClient, FunctionsHttpError } from "@supabase/functions-js";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { localKey } from "../support/clients.ts";
import { type FunctionsServer, startFunctions } from "../support/functions.ts";

/** The response of the function `mirror`. */
interface Mirrored {
  url: string;
  method: string;
  headers: Record<string, string>;
  body: unknown;
}

let server: FunctionsServer;
const rightKey = localKey("anon");
/** A token in the right form, signed with another secret. */
const wrongKey = signToken({ role: "anon", iss: "supabase-demo" }, "another secret");

beforeAll(async () => {
  server = await startFunctions();
});

afterAll(async () => {
  await server?.stop();
});

function signToken(claims: object, secret: string): string {
  const encode = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url");
  const body = `${encode({ alg: "HS256", typ: "JWT" })}.${encode(claims)}`;
  return `${body}.${createHmac("sha256", secret).update(body).digest("base64url")}`;
}

const bearer = (key: string) => ({ Authorization: `Bearer ${key}` });

function makeClient(key?: string, options: { region?: FunctionRegion } = {}): FunctionsClient {
  const headers = key === undefined ? {} : bearer(key);
  return new FunctionsClient(`${server.apiUrl}/functions/v1`, { headers, ...options });
}

async function mirror(
  client: FunctionsClient,
  options: Parameters<FunctionsClient["invoke"]>[1] = {},
  name = "mirror",
): Promise<Mirrored> {
  const { data, error } = await client.invoke<Mirrored>(name, options);
  if (error) throw error;
  if (data === null) throw new Error("no answer");
  return data;
}

describe("gw_039 functions-js: whose token counts", () => {
  test("the header of the client, of setAuth and of the call is accepted", async () => {
    const withSetAuth = makeClient(wrongKey);
    withSetAuth.setAuth(rightKey);

    for (const [client, options] of [
      [makeClient(rightKey), {}],
      [withSetAuth, {}],
      [makeClient(), { headers: bearer(rightKey) }],
      [makeClient(wrongKey), { headers: bearer(rightKey) }],
    ] as const) {
      const { data, error, response } = await client.invoke("hello", {
        ...options,
        body: { name: "World" },
      });
      expect(error).toBeNull();
      expect(data).toEqual({ message: "Hello World!" });
      expect(response).toBeInstanceOf(Response);
    }
  });

  test("a wrong token is refused, wherever it comes from", async () => {
    const overridden = makeClient(rightKey);
    overridden.setAuth(wrongKey);

    for (const [client, options] of [
      [makeClient(wrongKey), {}],
      [overridden, {}],
      [makeClient(rightKey), { headers: bearer(wrongKey) }],
    ] as const) {
      const { data, error, response } = await client.invoke("hello", options);
      expect(data).toBeNull();
      expect(error).toBeInstanceOf(FunctionsHttpError);
      expect(response?.status).toBe(401);
      expect(await error.context.json()).toEqual({ msg: "Invalid JWT" });
    }
  });
});

describe("gw_039 functions-js: what reaches the function", () => {
  test("method, headers of client and call, and an empty body", async () => {
    const client = new FunctionsClient(`${server.apiUrl}/functions/v1`, {
      headers: { ...bearer(rightKey), "custom-header": "of the client" },
    });

    const seen = await mirror(client, { headers: { "call-header": "of the call" } });

    expect(seen).toMatchObject({
      method: "POST",
      body: "",
      headers: { "custom-header": "of the client", "call-header": "of the call" },
    });
  });

  test("forms, JSON, text, bytes and blobs", async () => {
    const client = makeClient(rightKey);
    const form = new FormData();
    form.append("cat", "Katze");
    form.append("dog", "Hund");
    const asForm = { "response-type": "form" };

    expect((await mirror(client, { body: form, headers: asForm })).body).toEqual([
      ["cat", "Katze"],
      ["dog", "Hund"],
    ]);
    expect((await mirror(client, { body: { one: [1, { two: 2 }] } })).body).toBe(
      '{"one":[1,{"two":2}]}',
    );
    for (const body of ["Text", new TextEncoder().encode("Text").buffer, new Blob(["Text"])]) {
      expect((await mirror(client, { body })).body).toBe("Text");
    }
    const typed = { body: { a: 1 }, headers: { "content-type": "application/vnd.api+json" } };
    expect(await mirror(client, typed)).toMatchObject({
      body: '{"a":1}',
      headers: { "content-type": "application/vnd.api+json" },
    });
  });

  test("every method, and parameters of the address", async () => {
    const client = makeClient(rightKey);

    for (const method of ["GET", "PUT", "PATCH", "DELETE"] as const) {
      expect((await mirror(client, { method })).method).toBe(method);
    }
    const { url } = await mirror(client, {}, "mirror/deeper?first=1&second=two%20words");
    expect(new URL(url).pathname).toBe("/mirror/deeper");
    expect(new URL(url).search).toBe("?first=1&second=two%20words");
  });

  test("the region of the call, or else of the client", async () => {
    const client = makeClient(rightKey, { region: FunctionRegion.ApNortheast1 });

    const byClient = await mirror(client);
    const byCall = await mirror(client, { region: FunctionRegion.EuWest1 });
    const anywhere = await mirror(client, { region: FunctionRegion.Any });

    expect(byClient.headers["x-region"]).toBe("ap-northeast-1");
    expect(byCall.headers["x-region"]).toBe("eu-west-1");
    expect(byCall.url).toContain("forceFunctionRegion=eu-west-1");
    expect(anywhere.headers["x-region"]).toBeUndefined();
  });
});

describe("gw_039 functions-js: calls that are given up", () => {
  test("a slow function answers a patient caller", async () => {
    const { data, error } = await makeClient(rightKey).invoke("slow", { timeout: 60_000 });

    expect([data, error]).toEqual(["Slow Response", null]);
  });

  test("a timeout and an aborted signal end the call", async () => {
    const client = makeClient(rightKey);
    const controller = new AbortController();
    setTimeout(() => controller.abort(), 300);

    const [late, aborted] = await Promise.all([
      client.invoke("slow", { timeout: 300 }),
      client.invoke("slow", { timeout: 60_000, signal: controller.signal }),
    ]);

    expect([late.data, late.error.name]).toEqual([null, "FunctionsFetchError"]);
    expect([aborted.data, aborted.error.name]).toEqual([null, "FunctionsFetchError"]);
    const { data } = await client.invoke("hello", { body: { name: "again" } });
    expect(data).toEqual({ message: "Hello again!" });
  });
});
