/**
 * `fetch` for supabase-js, without its retries. postgrest-js repeats a read that failed on the network three times, and
 * supabase-js has no option to turn that off; together with TanStack Query's retries a server that is down would cost twelve
 * requests and 26 s before an error is shown. postgrest-js never repeats aborted requests, so it is told that this was one.
 */
export async function fetchWithoutRetries(
  input: RequestInfo | URL,
  init?: RequestInit,
): Promise<Response> {
  try {
    return await fetch(input, init);
  } catch (cause) {
    // The auth client decides by the original error whether the session survives.
    if (!String(input instanceof Request ? input.url : input).includes("/rest/v1/")) throw cause;
    throw new DOMException(cause instanceof Error ? cause.message : "", "AbortError");
  }
}
