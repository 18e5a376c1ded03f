/**
 * The runs of the SQL editor, one per tab. They are kept outside of React, so that a query continues while another screen
 * is open. When the page is closed, the connection ends and the server cancels the statement.
 */
import { send } from "@/api/client";
import { ApiError, isOutcomeUnknown } from "@/api/error";
import type { Subject } from "@/api/subject";
import { readNdjson } from "./ndjson";
import {
  applyEvent,
  createRun,
  markCancelled,
  markLost,
  type Run,
  type RunEvent,
} from "./run-model";

export type TransactionMode = "one" | "autocommit";

export interface RunRequest {
  text: string;
  /** Where the text begins in the editor. */
  offset: number;
  subject: Subject;
  transaction: TransactionMode;
}

const runs = new Map<string, Run>();
const aborts = new Map<string, AbortController>();
const listeners = new Set<() => void>();
let version = 0;
let frame = 0;

export function subscribeToRuns(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** Changes whenever any run does; the snapshot for useSyncExternalStore. */
export const runsVersion = () => version;

export function findRun(tab: string): Run | undefined {
  return runs.get(tab);
}

export function forgetRun(tab: string): void {
  void cancelRun(tab);
  runs.delete(tab);
  announce();
}

/** Tabs whose query has not ended. */
export function listRunning(): string[] {
  return [...runs].flatMap(([tab, { status }]) => (status === "running" ? [tab] : []));
}

/** At most once per frame, because rows arrive in many small pieces. */
function announce(): void {
  if (frame !== 0) return;
  frame = requestAnimationFrame(() => {
    frame = 0;
    version += 1;
    for (const listener of listeners) listener();
  });
}

/** Runs the text, and resolves when the run has ended, also after an error. */
export async function startRun(tab: string, request: RunRequest): Promise<Run> {
  const run = createRun(crypto.randomUUID(), request.text, request.offset, Date.now());
  const abort = new AbortController();
  aborts.get(tab)?.abort();
  runs.set(tab, run);
  aborts.set(tab, abort);
  announce();
  const { text, subject, transaction } = request;
  try {
    const response = await send("/api/sql/runs", {
      json: { id: run.id, text, subject, transaction },
      signal: abort.signal,
    });
    if (response.body !== null) {
      for await (const events of readNdjson<RunEvent>(response.body)) {
        for (const event of events) applyEvent(run, event);
        announce();
      }
    }
    // A body that stopped before its last event was cut off.
    if (run.elapsedMs === null) markLost(run);
  } catch (error) {
    failRun(run, error);
  } finally {
    if (aborts.get(tab) === abort) aborts.delete(tab);
    announce();
  }
  return run;
}

/** A refusal of the whole request is shown like the failure of its first statement. */
function failRun(run: Run, error: unknown): void {
  // A proxy's answer says nothing about the statement behind it.
  if (!(error instanceof ApiError) || isOutcomeUnknown(error)) {
    markLost(run);
    return;
  }
  const { code, message, details, hint, position } = error;
  const fault = { code, message, detail: details ?? null, hint: hint ?? null };
  applyEvent(run, { event: "error", index: 0, ...fault, position: position ?? null });
  applyEvent(run, { event: "end", committed: false, elapsed_ms: Date.now() - run.startedAt });
}

/** Asks the server to end the statement; its answer to the run then closes it. */
export async function cancelRun(tab: string): Promise<void> {
  const run = runs.get(tab);
  if (run === undefined || run.status !== "running") return;
  markCancelled(run);
  announce();
  try {
    await send(`/api/sql/runs/${run.id}`, { method: "DELETE" });
  } catch {
    // If the cancel request fails, aborting the connection makes the server cancel the statement.
    aborts.get(tab)?.abort();
  }
}
