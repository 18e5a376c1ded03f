import { ApiError, readError } from "@/api/error";
import { announceRefusal, pageHeaders } from "@/api/project";

export interface RequestOptions {
  method?: "GET" | "HEAD" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** The body, which is sent as JSON. */
  json?: unknown;
  /** Sent as it is, for example a file. */
  body?: BodyInit;
  headers?: Record<string, string>;
  signal?: AbortSignal | undefined;
  /** Reads the text of the answer; by default `JSON.parse`. Throws a SyntaxError for what it cannot read. */
  parse?: ((text: string) => unknown) | undefined;
  /** The response, if the request has been sent already by `public/first.js`. */
  sent?: Promise<Response> | undefined;
}

/**
 * Sends a request to the console's server, with the headers that other sites cannot send. Throws an ApiError unless the status is
 * one of success or 304.
 */
export async function send(path: string, options: RequestOptions = {}): Promise<Response> {
  const own = pageHeaders();
  const headers: Record<string, string> = { ...own, ...options.headers };
  let body = options.body;
  if (options.json !== undefined) {
    headers["content-type"] = "application/json";
    body = JSON.stringify(options.json);
  }
  const sent =
    options.sent ??
    fetch(path, {
      method: options.method ?? (body === undefined ? "GET" : "POST"),
      headers,
      credentials: "same-origin",
      cache: "no-store",
      ...(body !== undefined && { body }),
      ...(options.signal !== undefined && { signal: options.signal }),
    });
  const response = await sent.catch((error: unknown) => {
    if (error instanceof DOMException && error.name === "AbortError") throw error;
    throw new ApiError(0, {
      code: "unreachable",
      message: "The server cannot be reached.",
    });
  });
  if (response.ok || response.status === 304) return response;
  const failure = await readError(response);
  announceRefusal(failure, own);
  throw failure;
}

/** Sends a request and reads its answer as JSON; `undefined` for an empty one. The caller names the shape that the server promises. */
export async function request<T>(path: string, options?: RequestOptions): Promise<T> {
  const response = await send(path, options);
  if (response.status === 204) return undefined as T;
  const text = await response.text();
  if (text === "") return undefined as T;
  try {
    return (options?.parse ?? JSON.parse)(text) as T;
  } catch {
    throw new ApiError(response.status, {
      code: "malformed",
      message: "The server's answer is not JSON.",
      request_id: response.headers.get("x-request-id") ?? "",
    });
  }
}

/** The path with the parameters that are set. */
export function withQuery(
  path: string,
  parameters: Record<string, string | number | boolean | null | undefined>,
): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(parameters)) {
    if (value !== undefined && value !== null && value !== "") query.set(name, String(value));
  }
  const text = query.toString();
  return text === "" ? path : `${path}?${text}`;
}

/**
 * Reads an answer of one JSON value per line while it arrives. The generator ends with the answer; leaving it early cancels the
 * request.
 */
export async function* readLines<T>(path: string, options?: RequestOptions): AsyncGenerator<T> {
  const response = await send(path, options);
  if (response.body === null) return;
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) break;
      rest += value;
      const lines = rest.split("\n");
      rest = lines.pop() ?? "";
      for (const line of lines) if (line.trim() !== "") yield JSON.parse(line) as T;
    }
    if (rest.trim() !== "") yield JSON.parse(rest) as T;
  } catch (error) {
    if (error instanceof TypeError) {
      throw new ApiError(0, { code: "unreachable", message: "The connection broke off." });
    }
    throw error;
  } finally {
    await reader.cancel().catch(() => undefined);
  }
}
