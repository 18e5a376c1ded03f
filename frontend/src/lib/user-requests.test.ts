import type { GoTrueClient } from "@supabase/auth-js";
import { expect, it, vi } from "vitest";
import { fetchWithSession, onSessionRefused } from "./user-requests";

const stored = { access_token: "refused", user: { id: "mira" } };

/** An auth client with a session, whose renewal has this result. */
function makeAuth(renewal: unknown, next = stored) {
  const signOut = vi.fn(async () => ({ error: null }));
  const sessions = [stored];
  const auth = {
    getSession: async () => ({ data: { session: sessions.shift() ?? next } }),
    refreshSession: async () => renewal,
    signOut,
  };
  return { auth: auth as unknown as GoTrueClient, signOut };
}

/** A server that knows the token `renewed` alone. */
const send = vi.fn(
  async (token: string) => new Response(token, { status: token === "renewed" ? 200 : 401 }),
);

async function ask(auth: GoTrueClient): Promise<{ status: number; refusals: number }> {
  const refused = vi.fn();
  const unsubscribe = onSessionRefused(refused);
  const init = { signal: new AbortController().signal };
  const { status } = await fetchWithSession("/rest/v1/profiles", init, auth, "key", send);
  unsubscribe();
  return { status, refusals: refused.mock.calls.length };
}

it("a token that the server does not know is renewed, and the request sent again", async () => {
  const { auth, signOut } = makeAuth({
    data: { session: { access_token: "renewed", user: { id: "mira" } } },
    error: null,
  });

  expect(await ask(auth)).toEqual({ status: 200, refusals: 0 });
  expect(signOut).not.toHaveBeenCalled();
});

it("a refused request is not sent again with the session of somebody who has signed in since", async () => {
  const { auth } = makeAuth(null, { access_token: "renewed", user: { id: "noah" } });
  send.mockClear();

  expect(await ask(auth)).toEqual({ status: 401, refusals: 0 });
  expect(send.mock.calls).toEqual([["refused"]]);
});

it("a session that the server refuses for good ends in the browser, with a word", async () => {
  const { auth, signOut } = makeAuth({ data: { session: null }, error: { status: 400 } });

  expect(await ask(auth)).toEqual({ status: 401, refusals: 1 });
  expect(signOut).toHaveBeenCalledWith({ scope: "local" });
});

it.each([0, 503])("a server that answers the renewal by %s ends no session", async (status) => {
  const { auth, signOut } = makeAuth({ data: { session: null }, error: { status } });

  expect(await ask(auth)).toEqual({ status: 401, refusals: 0 });
  expect(signOut).not.toHaveBeenCalled();
});
