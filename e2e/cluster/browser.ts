// The stock client with cookies, as in a browser whose page has the API's origin, and a record of how each request ended.

import { AsyncLocalStorage } from "node:async_hooks";
import {
  createClient,
  type SupabaseClient,
  type WebSocketLikeConstructor,
} from "@supabase/supabase-js";
import WebSocket from "ws";
import type { Failure } from "./ledger.ts";
import { apiUrl } from "./topology.ts";

/** Longer than nginx waits for a node (75 s), so that only a hanging request reaches it. */
const requestTimeoutMs = 100_000;

/** Where the stock client signs in, and the message of a node that has given up a request after its own limit (60 s). */
const signInPath = "/auth/v1/token";
const timeLimit = "The upstream server is timing out";

/** A request without an acceptable response. */
class BrokenAnswer extends Error {
  /** The failure that a fault may cause; undefined for any other. */
  readonly failure: Failure | undefined;

  constructor(what: string, failure?: Failure) {
    super(what);
    this.failure = failure;
  }
}

/** Collects the failed requests of an operation, because stock clients retry some requests and report only a message for others. */
const brokenAnswers = new AsyncLocalStorage<BrokenAnswer[]>();

/** The result of an operation. */
export interface Outcome {
  /** The error message; undefined after a success, or when `broken` explains the failure. */
  fault: string | undefined;
  /** All failed requests, also those that the client retried. */
  broken: { message: string; failure: Failure | undefined }[];
}

/** Runs an operation and collects its failed requests. */
export async function tryWork(work: () => Promise<void>): Promise<Outcome> {
  const broken: BrokenAnswer[] = [];
  return await brokenAnswers.run(broken, async () => {
    try {
      await work();
      return { fault: undefined, broken };
    } catch (error) {
      return { fault: `${error}`, broken };
    }
  });
}

/** Creates a stock client whose failed requests {@link tryWork} collects. */
export function openBrowser(key: string): SupabaseClient {
  const cookies = new Cookies();
  return createClient(apiUrl, key, {
    auth: { persistSession: false, autoRefreshToken: false, detectSessionInUrl: false },
    realtime: {
      transport: WebSocket as unknown as WebSocketLikeConstructor,
      // The stock pauses grow to ten seconds, which would hide how soon the server can be used again.
      reconnectAfterMs: () => 200,
    },
    global: {
      fetch: async (input, init) => {
        const url = new URL(input instanceof Request ? input.url : input);
        const headers = new Headers(init?.headers);
        cookies.addTo(headers, url.pathname);
        const response = await send(url, { ...init, headers });
        cookies.keep(response.headers);
        return response;
      },
    },
  });
}

/** Sends a request and reads the whole response. Throws when the connection fails, or the server responds 5xx. */
export async function send(url: URL, init: RequestInit): Promise<Response> {
  try {
    return await sendOnce(url, init);
  } catch (error) {
    if (error instanceof BrokenAnswer) {
      brokenAnswers.getStore()?.push(error);
    }
    throw error;
  }
}

async function sendOnce(url: URL, init: RequestInit): Promise<Response> {
  const what = `${init.method ?? "GET"} ${url.pathname}`;
  const signal = AbortSignal.timeout(requestTimeoutMs);
  let response: Response;
  try {
    const answer = await fetch(url, { ...init, signal });
    response = new Response(answer.status === 204 ? null : await answer.arrayBuffer(), answer);
  } catch (error) {
    // The connection ended after the request was accepted: the node died.
    throw new BrokenAnswer(`${what}: ${explain(error)}`, signal.aborted ? undefined : "node lost");
  }
  if (response.status < 500) {
    return response;
  }
  const body = await response.text();
  const answer = `${what}: ${response.status} ${body.slice(0, 300)}`;
  if (response.status === 503 && Number(response.headers.get("retry-after")) >= 1) {
    throw new BrokenAnswer(answer, "retriable");
  }
  // Passwords are hashed at the lowest priority, so on an overloaded computer a sign-in may take longer than a node lets a request take.
  if (response.status === 504 && body.includes(timeLimit) && url.pathname === signInPath) {
    throw new BrokenAnswer(answer, "too slow");
  }
  const isOfNginx = response.headers.get("server")?.startsWith("nginx") ?? false;
  const isNodeLost = isOfNginx && !body.includes(timeLimit) && [502, 504].includes(response.status);
  // nginx retries reads at another node.
  const mayRepeat = ["GET", "HEAD"].includes(init.method ?? "GET");
  throw new BrokenAnswer(answer, isNodeLost && !mayRepeat ? "node lost" : undefined);
}

function explain(error: unknown): string {
  const cause = error instanceof Error ? error.cause : undefined;
  return cause instanceof Error ? `${error}: ${cause.message}` : `${error}`;
}

/** The cookies of one origin, each with its path and time of expiry. */
class Cookies {
  readonly #kept = new Map<string, { value: string; path: string; untilMs: number }>();

  keep(headers: Headers): void {
    for (const cookie of headers.getSetCookie()) {
      const [pair = "", ...attributes] = cookie.split(/;\s*/);
      const attribute = (name: string) =>
        attributes.find((one) => one.startsWith(`${name}=`))?.slice(name.length + 1);
      const [name = "", value = ""] = pair.split("=");
      const path = attribute("Path") ?? "/";
      const untilMs = Date.now() + Number(attribute("Max-Age") ?? 3_600) * 1_000;
      this.#kept.set(`${name} ${path}`, { value: `${name}=${value}`, path, untilMs });
    }
  }

  addTo(headers: Headers, path: string): void {
    const now = Date.now();
    const fitting = [...this.#kept.values()].filter(
      (cookie) => cookie.untilMs > now && path.startsWith(cookie.path),
    );
    if (fitting.length > 0) {
      headers.set("cookie", fitting.map(({ value }) => value).join("; "));
    }
  }
}
