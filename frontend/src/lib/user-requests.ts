/** The auth client and requests of signed-in people. Loaded with the first session; visitors need none of it. */
import { GoTrueClient, type Session } from "@supabase/auth-js";
import { takeEarlyResponse } from "@/lib/early-requests";
import { servicesUrl, sessionKey } from "@/lib/services";

/** Sends a request with a token. */
type Send = (token: string) => Promise<Response>;

/** The auth client of supabase-js with its settings. With the implicit flow, links in mails carry tokens in the URL hash. */
export function createAuthClient(key: string): GoTrueClient {
  return new GoTrueClient({
    url: `${servicesUrl}/auth/v1`,
    headers: { apikey: key, Authorization: `Bearer ${key}` },
    flowType: "implicit",
    persistSession: true,
    autoRefreshToken: true,
    detectSessionInUrl: true,
    storageKey: sessionKey,
  });
}

/** Refused as PostgreSQL refuses a change without the right to it. */
const endedSession = { code: "42501", message: "Your session has ended. Sign in again." };

type OnReplaced = (session: Session | null) => void;

/** The person whose rows the page shows, and who learns that it is another one by now. */
let shown: { userId: string; onReplaced: OnReplaced } | undefined;

/**
 * Says whose rows the page shows, so that no request of theirs is sent as a visitor or as the next person: another tab may have
 * signed out a moment ago. The callback must end the queries of that person.
 */
export function showUser(userId: string | undefined, onReplaced: OnReplaced = () => {}): void {
  shown = userId === undefined ? undefined : { userId, onReplaced };
}

/** Sends a request with the session's token, or with the key where there is none any more. */
export async function fetchWithSession(
  input: RequestInfo | URL,
  init: RequestInit,
  auth: GoTrueClient,
  key: string,
  send: Send,
): Promise<Response> {
  const former = shown;
  const { session } = (await auth.getSession()).data;
  if (former !== undefined && session?.user.id !== former.userId) {
    if (shown === former) {
      shown = undefined;
      former.onReplaced(session);
    }
    // That person's queries are aborted by now, and those that anybody may make go on. Without a signal it is a change.
    if (!init.signal && init.method !== "GET") return Response.json(endedSession, { status: 403 });
  }
  if (session === null) return send(key);
  const token = session.access_token;
  const response = (await takeEarly(input, init, token)) ?? (await send(token));
  if (response.status !== 401) return response;
  const renewed = await renewRefusedSession(auth, token);
  // Somebody else may have signed in meanwhile: this was not asked in their name.
  return renewed?.user.id === session.user.id ? send(renewed.access_token) : response;
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

let renewal: Promise<Session | null> | null = null;
const refusalListeners = new Set<() => void>();

/** Calls the listener when the server refuses a session for good. Returns a function that removes the listener. */
export function onSessionRefused(listener: () => void): () => void {
  refusalListeners.add(listener);
  return () => refusalListeners.delete(listener);
}

/**
 * A session with a new token in place of one that the server does not know any more, for example because its keys were changed. Where there is
 * none, the session ends here, too: a page that looks signed in and can do nothing would help nobody.
 */
function renewRefusedSession(auth: GoTrueClient, refused: string): Promise<Session | null> {
  renewal ??= renewSession(auth, refused).finally(() => {
    renewal = null;
  });
  return renewal;
}

async function renewSession(auth: GoTrueClient, refused: string): Promise<Session | null> {
  const stored = (await auth.getSession()).data.session;
  // Another request or another tab has renewed it meanwhile, or has signed in.
  if (stored !== null && stored.access_token !== refused) return stored;
  const { data, error } = await auth.refreshSession();
  if (data.session !== null) return data.session;
  // Without a network, or from a server that is down, nothing is known about the session.
  if (error === null || error.status === undefined || error.status === 0 || error.status >= 500) {
    return null;
  }
  await auth.signOut({ scope: "local" });
  for (const listener of refusalListeners) listener();
  return null;
}
