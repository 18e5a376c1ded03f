// Must stay the first import: it reads the tokens in the URL hash before the client consumes them.

import { PostgrestClient } from "@supabase/postgrest-js";
import type { SupabaseClient } from "@supabase/supabase-js";
import { authCallback } from "@/lib/auth-callback";
import { localStore } from "@/lib/browser-storage";
import type { Database } from "@/lib/database";
import { fetchWithoutRetries } from "@/lib/supabase-fetch";

/** Origin of the services: the page's own, unless the build names another. */
export const servicesUrl = import.meta.env.VITE_SUPABASE_URL ?? window.location.origin;

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

/** The key under which supabase-js stores the session by default; named here so that {@link hasStoredSession} can look. */
export const sessionKey = `sb-${new URL(servicesUrl).hostname.split(".")[0]}-auth-token`;

/** Whether a session is stored, valid or not. Known at once, unlike the session itself. */
export function hasStoredSession(): boolean {
  return localStore.get(sessionKey) !== null;
}

/** Whether there may be a session: one is stored, or the address brings one. */
export function mayHaveSession(): boolean {
  return client !== null || hasStoredSession() || authCallback.kind !== "none";
}

let client: Promise<SupabaseClient<Database>> | null = null;
const clientListeners = new Set<() => void>();

/**
 * The whole client of supabase-js, created once. It is half as large as the rest of the first load together and visitors without
 * a session do not need it, so it is loaded by the first call. With the implicit flow, links in mails carry tokens in the URL
 * hash.
 */
export function loadClient(): Promise<SupabaseClient<Database>> {
  if (client === null) {
    client = import("@supabase/supabase-js").then(({ createClient }) =>
      createClient<Database>(servicesUrl, supabaseKey, {
        auth: {
          flowType: "implicit",
          persistSession: true,
          autoRefreshToken: true,
          storageKey: sessionKey,
        },
        global: { fetch: fetchWithoutRetries },
      }),
    );
    client.catch(() => {
      // The file could not be loaded, for example offline: the next call tries again.
      client = null;
    });
    for (const listener of clientListeners) listener();
  }
  return client;
}

/** Whether somebody has asked for the client. */
export function isClientWanted(): boolean {
  return client !== null;
}

/**
 * Calls the listener when the client is requested for the first time. Returns a function that removes the listener.
 */
export function onClientWanted(listener: () => void): () => void {
  clientListeners.add(listener);
  return () => clientListeners.delete(listener);
}

// Loaded before the pictures of the page occupy all connections to the server: a page for a signed-in user waits for
// the session.
if (mayHaveSession()) loadClient().catch(() => undefined);

/** Adds the key and the session's token, as the client of supabase-js does. */
async function fetchWithToken(input: RequestInfo | URL, init: RequestInit = {}): Promise<Response> {
  let token = supabaseKey;
  if (mayHaveSession()) {
    const { data } = await (await loadClient()).auth.getSession();
    token = data.session?.access_token ?? supabaseKey;
  }
  const headers = new Headers(init.headers);
  headers.set("apikey", supabaseKey);
  headers.set("Authorization", `Bearer ${token}`);
  return fetchWithoutRetries(input, { ...init, headers });
}

/** Reads and writes rows, and calls functions of the database: the part of supabase-js that every page needs. */
export const supabase = new PostgrestClient<Database>(`${servicesUrl}/rest/v1`, {
  fetch: fetchWithToken,
});

/**
 * Whether this user is still signed in. Another tab may have signed out a moment ago; a request for private rows would then
 * be sent as a visitor and be refused.
 */
export async function hasSession(userId: string): Promise<boolean> {
  if (!mayHaveSession()) return false;
  const { data } = await (await loadClient()).auth.getSession();
  return data.session?.user.id === userId;
}
