import { afterEach, expect, it, vi } from "vitest";
import { sendEarly, takeEarlyResponse } from "./early-requests";

const url = "http://127.0.0.1/rest/v1/profiles?select=*&id=eq.1";
const read = { url, token: "token" };

afterEach(() => {
  vi.unstubAllGlobals();
  vi.useRealTimers();
  delete window.earlyReads;
});

function answerWith(response: () => Promise<Response>) {
  const fetch = vi.fn(response);
  vi.stubGlobal("fetch", fetch);
  return fetch;
}

it("gives the response to one read with the same address, token and body", async () => {
  const fetch = answerWith(async () => new Response("[]"));
  sendEarly(read, "key");

  expect(await takeEarlyResponse({ ...read, url: `${url}2` })).toBeNull();
  expect(await takeEarlyResponse({ ...read, token: "another" })).toBeNull();
  expect(await takeEarlyResponse({ ...read, body: "{}" })).toBeNull();
  expect(await (await takeEarlyResponse(read))?.text()).toBe("[]");
  expect(await takeEarlyResponse(read)).toBeNull();
  expect(fetch).toHaveBeenCalledWith(url, {
    headers: { apikey: "key", Authorization: "Bearer token" },
  });
});

it("calls a function with the body as JSON", async () => {
  const fetch = answerWith(async () => new Response("[]"));
  sendEarly({ ...read, body: '{"term":""}' }, "key");

  expect(fetch).toHaveBeenCalledWith(url, {
    method: "POST",
    headers: {
      apikey: "key",
      Authorization: "Bearer token",
      "Content-Type": "application/json",
    },
    body: '{"term":""}',
  });
  expect(await takeEarlyResponse({ ...read, body: '{"term":""}' })).not.toBeNull();
});

it("gives nothing when the read was refused or failed", async () => {
  answerWith(async () => new Response("", { status: 401 }));
  sendEarly(read, "key");
  expect(await takeEarlyResponse(read)).toBeNull();

  answerWith(() => Promise.reject(new TypeError("Failed to fetch")));
  sendEarly(read, "key");
  expect(await takeEarlyResponse(read)).toBeNull();
});

it("gives no response that is older than ten seconds", async () => {
  vi.useFakeTimers({ toFake: ["performance"] });
  answerWith(async () => new Response("[]"));
  sendEarly(read, "key");
  vi.advanceTimersByTime(10_001);

  expect(await takeEarlyResponse(read)).toBeNull();
});
