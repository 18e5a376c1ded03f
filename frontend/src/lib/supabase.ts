// Must stay the first import: it reads the tokens in the URL hash before the client consumes them.

import type { GoTrueClient } from "@supabase/auth-js";
import { PostgrestClient } from "@supabase/postgrest-js";
import { authCallback } from "@/lib/auth-callback";
import type { Database } from "@/lib/database";
import { hasStoredSession, servicesUrl } from "@/lib/services";

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

let auth: Promise<UserRequests> | null = null;
const authListeners = new Set<() => void>();

type UserRequests = typeof import("@/lib/user-requests") & { client: GoTrueClient };

/**
 * The auth client of supabase-js, and what sends requests with a session. It is a fifth of a first load and visitors without a
 * session do not need it, so it is loaded by the first call.
 */
export function loadUserRequests(): Promise<UserRequests> {
  if (auth === null) {
    auth = import("@/lib/user-requests").then((module) => ({
      ...module,
      client: module.createAuthClient(supabaseKey),
    }));
    auth.catch(() => {
      // The file could not be loaded, for example offline: the next call tries again.
      auth = null;
    });
    for (const listener of authListeners) listener();
  }
  return auth;
}

export async function loadAuth(): Promise<GoTrueClient> {
  return (await loadUserRequests()).client;
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
  const send = (token: string) => {
    const headers = new Headers(init.headers);
    headers.set("apikey", supabaseKey);
    headers.set("Authorization", `Bearer ${token}`);
    return fetch(input, { ...init, headers });
  };
  if (!mayHaveSession()) return send(supabaseKey);
  const { fetchWithSession, client } = await loadUserRequests();
  return fetchWithSession(input, init, client, supabaseKey, send);
}

/** Reads and writes rows, and calls functions of the database: the part of supabase-js that every page needs. */
export const supabase = new PostgrestClient<Database>(`${servicesUrl}/rest/v1`, {
  fetch: fetchWithToken,
  // The query client retries. With retries of both, a server that is down or busy would get twelve requests in 26 seconds.
  retry: false,
});
