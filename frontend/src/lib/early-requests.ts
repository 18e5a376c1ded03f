/**
 * Requests that the script in index.html sends while the app's scripts are still loaded. The app takes their responses instead of
 * asking again, so what a page waits for arrives a round trip earlier.
 */

/** A read with a session's token; with a body it calls a function of the database. */
export interface EarlyRead {
  url: string;
  token: string;
  /** JSON, exactly as the app would send it. */
  body?: string | undefined;
}

interface SentRead extends EarlyRead {
  sentAt: number;
  response: Promise<Response | null>;
}

declare global {
  interface Window {
    earlyReads?: SentRead[];
  }
}

/** After this many milliseconds a response is too old, and the app repeats the request. */
const longestAgeMs = 10_000;

/** Sends a read; `key` is the publishable key of the project. The response is null when the read failed. */
export function sendEarly(read: EarlyRead, key: string): Promise<Response | null> {
  const { url, token, body } = read;
  const headers = { apikey: key, Authorization: `Bearer ${token}` };
  const call = {
    method: "POST",
    headers: { ...headers, "Content-Type": "application/json" },
    body: body ?? "",
  };
  // A failure is not reported yet: the app repeats the request, and shows that result.
  const response = fetch(url, body === undefined ? { headers } : call).then(
    (received) => (received.ok ? received : null),
    () => null,
  );
  window.earlyReads ??= [];
  window.earlyReads.push({ ...read, sentAt: performance.now(), response });
  return response;
}

/** Returns the response to a read that was sent early; null when there is none, or it failed. Each is returned once. */
export async function takeEarlyResponse(wanted: EarlyRead): Promise<Response | null> {
  const reads = window.earlyReads ?? [];
  const index = reads.findIndex(
    ({ url, token, body }) => url === wanted.url && token === wanted.token && body === wanted.body,
  );
  const [found] = index < 0 ? [] : reads.splice(index, 1);
  if (found === undefined || performance.now() - found.sentAt > longestAgeMs) return null;
  return found.response;
}
