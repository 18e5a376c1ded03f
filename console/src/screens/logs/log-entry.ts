/** Shapes of `GET /api/logs` and `GET /api/logs/{request_id}`. */
import type { HistogramBar } from "./histogram";

export interface LogEntry {
  id: string;
  /** ISO time of the request's beginning. */
  time: string;
  request_id: string;
  service: string;
  method: string;
  path: string;
  status: number;
  duration_ms: number;
  user: string | null;
  role: string | null;
  address: string | null;
  message?: string | null;
}

export interface LogPage {
  entries: LogEntry[];
  histogram: HistogramBar[];
  /** Value of `before` for the next page; null when the oldest entry was reached. */
  next: string | null;
}

export interface LogLine {
  time: string;
  level: string;
  message: string;
}

export interface LoggedStatement {
  /** The statement with its values replaced by `$n`. */
  shape: string;
  ms: number;
  rows: number | null;
}

export interface RequestDetails {
  entry: LogEntry;
  lines: LogLine[];
  statements: LoggedStatement[];
  /** With numbers as `parseExact` has them. */
  claims: Record<string, unknown> | null;
  /** Whether statements of this request were kept: those of quick, successful requests are not. */
  kept?: boolean;
}

export type Outcome = "ok" | "redirect" | "client_error" | "server_error";

export function outcomeOf(status: number): Outcome {
  if (status >= 500) return "server_error";
  if (status >= 400) return "client_error";
  return status >= 300 ? "redirect" : "ok";
}
