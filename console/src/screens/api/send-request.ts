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
  const text = await response.text();
  const shown = layOut(text);
  return {
    status: response.status,
    statusText: response.statusText,
    elapsedMs: performance.now() - startedAt,
    headers: [...response.headers.entries()].sort(([a], [b]) => a.localeCompare(b)),
    body: shown.slice(0, shownCharacters),
    bytes: new Blob([text]).size,
    isCut: shown.length > shownCharacters,
  };
}

function layOut(text: string): string {
  return text.length <= shownCharacters && isJson(text) ? layOutJson(text) : text;
}
