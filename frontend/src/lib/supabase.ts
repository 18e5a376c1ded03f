// Must stay the first import: it reads the tokens in the URL hash before the client consumes them.

import type { GoTrueClient } from "@supabase/auth-js";
import { PostgrestClient } from "@supabase/postgrest-js";
import { authCallback } from "@/lib/auth-callback";
import type { Database } from "@/lib/database";
import { takeEarlyResponse } from "@/lib/early-requests";
import { hasStoredSession, servicesUrl, sessionKey } from "@/lib/services";

/**
 * The server replaces the placeholder in index.html with its publishable key. Vite's development server and unit tests do
 * not, so a value that still begins with `%` falls back to the key of the environment.
 */
function publishableKey(): string {
  const fromPage = document.querySelector<HTMLMetaElement>('meta[name="supabase-key"]')?.content;
  if (fromPage !== undefined && fromPage !== "" && !fromPage.startsWith("%")) return fromPage;
  const fromEnvironment = import.meta.env.VITE_SUPABASE_KEY;
  if (fromEnvironment !== undefined && fromEnvironment !== "") return fromEnvironment;
  throw new Error("No publishable key: index.html was served without one.");
}

export const supabaseKey = publishableKey();

/** Whether there may be a session: one is stored, or the address brings one. */
export function mayHaveSession(): boolean {
  return auth !== null || hasStoredSession() || authCallback.kind !== "none";
}

let auth: Promise<GoTrueClient> | null = null;
const authListeners = new Set<() => void>();

/**
 * The auth client of supabase-js with its settings, created once. It is a fifth of a first load and visitors without a session do
 * not need it, so it is loaded by the first call. With the implicit flow, links in mails carry tokens in the URL hash.
 */
export function loadAuth(): Promise<GoTrueClient> {
  if (auth === null) {
    auth = import("@supabase/auth-js").then(
      ({ GoTrueClient }) =>
        new GoTrueClient({
          url: `${servicesUrl}/auth/v1`,
          headers: { apikey: supabaseKey, Authorization: `Bearer ${supabaseKey}` },
          flowType: "implicit",
          persistSession: true,
          autoRefreshToken: true,
          detectSessionInUrl: true,
          storageKey: sessionKey,
        }),
    );
    auth.catch(() => {
      // The file could not be loaded, for example offline: the next call tries again.
      auth = null;
    });
    for (const listener of authListeners) listener();
  }
  return auth;
}

/** Whether the auth client was requested. */
export function isAuthWanted(): boolean {
  return auth !== null;
}

/**
 * Calls the listener when the auth client is requested for the first time. Returns a function that removes the listener.
 */
export function onAuthWanted(listener: () => void): () => void {
  authListeners.add(listener);
  return () => authListeners.delete(listener);
}

// Loaded before the pictures of the page occupy all connections to the server: a page for a signed-in user waits for
// the session.
if (mayHaveSession()) loadAuth().catch(() => undefined);

/** `fetch` with the key and the session's token, as supabase-js sends them. */
export async function fetchWithToken(
  input: RequestInfo | URL,
  init: RequestInit = {},
): Promise<Response> {
  let token = supabaseKey;
  if (mayHaveSession()) {
    const { data } = await (await loadAuth()).getSession();
    token = data.session?.access_token ?? supabaseKey;
  }
  const send = (bearer: string) => {
    const headers = new Headers(init.headers);
    headers.set("apikey", supabaseKey);
    headers.set("Authorization", `Bearer ${bearer}`);
    return fetch(input, { ...init, headers });
  };
  const response = (await takeEarly(input, init, token)) ?? (await send(token));
  if (response.status !== 401 || token === supabaseKey) return response;
  const renewed = await renewRefusedSession(token);
  return renewed === null ? response : send(renewed);
}

let renewal: Promise<string | null> | null = null;
const refusalListeners = new Set<() => void>();

/** Calls the listener when the server refuses a session for good. Returns a function that removes the listener. */
export function onSessionRefused(listener: () => void): () => void {
  refusalListeners.add(listener);
  return () => refusalListeners.delete(listener);
}

/**
 * A new token in place of one that the server does not know any more, for example because its keys were changed. Where there is
 * none, the session ends here, too: a page that looks signed in and can do nothing would help nobody.
 */
function renewRefusedSession(refused: string): Promise<string | null> {
  renewal ??= renewSession(refused).finally(() => {
    renewal = null;
  });
  return renewal;
}

async function renewSession(refused: string): Promise<string | null> {
  const client = await loadAuth();
  const stored = (await client.getSession()).data.session?.access_token;
  // Another request or another tab has renewed it meanwhile.
  if (stored !== undefined && stored !== refused) return stored;
  const { data, error } = await client.refreshSession();
  if (data.session !== null) return data.session.access_token;
  // Without a network, or from a server that is down, nothing is known about the session.
  if (error === null || error.status === undefined || error.status === 0 || error.status >= 500) {
    return null;
  }
  await client.signOut({ scope: "local" });
  for (const listener of refusalListeners) listener();
  return null;
}

/** The response to the same request that was sent before the app arrived, if there is one. */
async function takeEarly(
  input: RequestInfo | URL,
  { method = "GET", body }: RequestInit,
  token: string,
): Promise<Response | null> {
  const isRead = method === "GET" && (body === undefined || body === null);
  const isCall = method === "POST" && typeof body === "string";
  if (!isRead && !isCall) return null;
  return takeEarlyResponse({ url: String(input), token, body: isCall ? body : undefined });
}

/** Reads and writes rows, and calls functions of the database: the part of supabase-js that every page needs. */
export const supabase = new PostgrestClient<Database>(`${servicesUrl}/rest/v1`, {
  fetch: fetchWithToken,
  // The query client retries. With retries of both, a server that is down or busy would get twelve requests in 26 seconds.
  retry: false,
});

/**
 * Whether this user is still signed in. Another tab may have signed out a moment ago; a request for private rows would then
 * be sent as a visitor and be refused.
 */
export async function hasSession(userId: string): Promise<boolean> {
  if (!mayHaveSession()) return false;
  const { data } = await (await loadAuth()).getSession();
  return data.session?.user.id === userId;
}
