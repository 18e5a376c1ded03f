/** Sends the explorer's request through the console's own server, which adds the key of the subject. */

import { pageHeaders } from "@/api/project";
import type { Subject } from "@/api/subject";
import { isJson, layOutJson } from "@/lib/json-text";
import { type ApiRequest, toHttp } from "./api-request";

export interface LiveAnswer {
  status: number;
  statusText: string;
  elapsedMs: number;
  headers: [name: string, value: string][];
  body: string;
  bytes: number;
  isCut: boolean;
}

/** Longer bodies are cut, because rendering them would block the page. */
const shownCharacters = 200_000;

/** Every status is a result here, because the explorer shows refusals, too. */
export async function sendRequest(request: ApiRequest, subject: Subject): Promise<LiveAnswer> {
  const { method, path, headers, body } = toHttp(request);
  const startedAt = performance.now();
  const response = await fetch(`/api/proxy/rest${path}`, {
    method,
    headers: {
      ...headers,
      ...pageHeaders(),
      "x-selvedge-subject": JSON.stringify(subject),
    },
    credentials: "same-origin",
    cache: "no-store",
    ...(body !== null && { body }),
  });
  const { text, bytes, isWhole } = await readBeginning(response);
  const shown = isWhole ? layOut(text) : text;
  return {
    status: response.status,
    statusText: response.statusText,
    elapsedMs: performance.now() - startedAt,
    headers: [...response.headers.entries()].sort(([a], [b]) => a.localeCompare(b)),
    body: shown.slice(0, shownCharacters),
    bytes,
    isCut: !isWhole || shown.length > shownCharacters,
  };
}

/**
 * Reads the whole answer, because an aborted one could take a write back, and keeps of it what can be shown, so that an answer of any
 * size leaves the page responsive.
 */
export async function readBeginning({ body }: Response) {
  let text = "";
  let bytes = 0;
  let isWhole = true;
  if (body === null) return { text, bytes, isWhole };
  const reader = body.getReader();
  // A U+FEFF at the beginning belongs to the answer.
  const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    bytes += value.length;
    if (text.length <= shownCharacters) text += decoder.decode(value, { stream: true });
    else isWhole = false;
  }
  return { text: isWhole ? text + decoder.decode() : text, bytes, isWhole };
}

function layOut(text: string): string {
  return text.length <= shownCharacters && isJson(text) ? layOutJson(text) : text;
}
