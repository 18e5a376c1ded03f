/** The simulator's response: its types, descriptions of its rows, and differences between two responses. */
import type { Verb } from "./access-matrix";

export type SimulatedVerb = Verb | "upsert";
export type Verdict = "pass" | "fail" | "null" | "error";

export type SimulationRequest =
  | {
      kind: "verb";
      verb: SimulatedVerb;
      table: string;
      filters?: { column: string; operator: string; value: string }[];
      values?: Record<string, string | null>;
      returning?: boolean;
    }
  | { kind: "sql"; text: string }
  | { kind: "rest"; method: string; path: string; headers: Record<string, string>; body: string };

export interface SimulatedPolicy {
  name: string;
  command: string;
  permissive: boolean;
  roles: string[];
  applies: boolean;
  using: string | null;
  check: string | null;
  /** Only proposed; the real statement is not subject to it. */
  unsaved: boolean;
  /** Saved, but an unsaved policy of the same name takes its place. */
  replaced: boolean;
}

export interface RowVerdict {
  /** Index into the policies. */
  policy: number;
  part: "using" | "check";
  /** The command whose policies were checked: for an UPDATE those of SELECT are checked, too. */
  command: string;
  /** Which version of the row was tested; `merged` is an upsert's row after its update. */
  row: "old" | "new" | "merged";
  verdict: Verdict;
  error?: string | null;
  operands?: { text: string; value: string | null }[];
}

export interface SimulatedRow {
  /** Null for a row that is not stored yet. */
  id: { key: string[] } | { tableoid: string; ctid: string } | null;
  values: Record<string, string | null>;
  /** The row as an update or upsert would store it. */
  new_values?: Record<string, string | null>;
  verdicts: RowVerdict[];
  allowed: boolean;
  denied_by: string[];
  /** With the unsaved policies; absent without any. */
  allowed_unsaved?: boolean;
  denied_by_unsaved?: string[];
}

export interface SimulationStep {
  step: "exposed" | "privilege" | "rls" | "policies" | "limit" | "result";
  ok: boolean;
  text: string;
  details?: string[];
}

export interface Simulation {
  subject: { role: string; claims: Record<string, unknown> | null };
  table?: { oid: string; schema: string; name: string } | null;
  steps: SimulationStep[];
  policies: SimulatedPolicy[];
  rows: SimulatedRow[];
  /** Null when the real statement was not run. */
  truth: {
    /** Values are PostgreSQL's texts, so that no number loses digits. Of many rows only the first are there. */
    rows: Record<string, string | null>[] | null;
    count: number | null;
    error: { code: string; message: string } | null;
  } | null;
  /** Whether explanation and truth say the same; null when they cannot be compared. */
  agrees: boolean | null;
  banners: string[];
}

/** A policy that is being written; it replaces the saved one of its name. */
export interface UnsavedPolicy {
  name: string;
  command: string;
  permissive: boolean;
  roles: string[];
  using: string | null;
  check: string | null;
}

/** Verdicts of one policy on one row: an UPDATE has one for the old row and one for the new. */
export function verdictsOf(row: SimulatedRow, policy: number): RowVerdict[] {
  return row.verdicts.filter((verdict) => verdict.policy === policy);
}

const verdictWords: Record<Verdict, string> = {
  pass: "passes",
  fail: "fails",
  null: "is null, which denies",
  error: "ends with an error",
};

/** The sentence about a verdict that screen readers get in place of its colour. */
export function describeVerdict(policy: SimulatedPolicy, verdict: RowVerdict): string {
  const part = verdict.part === "using" ? "USING" : "WITH CHECK";
  const version = verdict.row === "old" ? "" : ` on the ${verdict.row} row`;
  const error = verdict.error ? `: ${verdict.error}` : "";
  return `${policy.name}: ${part}${version} ${verdictWords[verdict.verdict]}${error}`;
}

/** Why a row is allowed or not under the saved policies, in one sentence. */
export function explainRow(row: SimulatedRow, policies: readonly SimulatedPolicy[]): string {
  if (!row.allowed) return explainDenial(row.denied_by);
  const passing = policies.flatMap((policy, index) =>
    policy.permissive &&
    !policy.unsaved &&
    verdictsOf(row, index).some(({ verdict }) => verdict === "pass")
      ? [policy.name]
      : [],
  );
  return passing.length === 0 ? "Allowed." : `Allowed by ${passing.join(", ")}.`;
}

/** Explains a row's result with the unsaved policies; null without unsaved policies. */
export function explainUnsaved(row: SimulatedRow): string | null {
  if (row.allowed_unsaved === undefined) return null;
  if (row.allowed_unsaved) return "With the unsaved policy: allowed.";
  return `With the unsaved policy: ${explainDenial(row.denied_by_unsaved ?? [])}`;
}

function explainDenial(reasons: readonly string[]): string {
  if (reasons.length === 0) return "Denied: no permissive policy lets it through.";
  // Other reasons than policies are sentences, such as "anon lacks a privilege" and "no permissive policy … applies to anon".
  const isSentence = (reason: string) => / lacks a privilege$|^no permissive policy /.test(reason);
  return reasons.some(isSentence)
    ? `Denied: ${reasons.join("; ")}.`
    : `Denied by ${reasons.join(", ")}.`;
}

export type RowChange = "appears" | "vanishes" | "stays";

/** The effect of the unsaved policies on a row (CONSOLE-084). */
export function changeOf(row: SimulatedRow): RowChange {
  if (row.allowed_unsaved === undefined || row.allowed_unsaved === row.allowed) return "stays";
  return row.allowed_unsaved ? "appears" : "vanishes";
}

export function countChanges(rows: readonly SimulatedRow[]): Record<RowChange, number> {
  const counts = { appears: 0, vanishes: 0, stays: 0 };
  for (const row of rows) counts[changeOf(row)] += 1;
  return counts;
}

/** The headline above the result. */
export function summarize({ truth, subject }: Simulation): string {
  if (truth === null) return `Explained as ${subject.role}; the request was not run`;
  if (truth.error !== null) return `Refused: ${truth.error.code} ${truth.error.message}`;
  const count = truth.count ?? truth.rows?.length ?? 0;
  return `${count.toLocaleString("en")} ${count === 1 ? "row" : "rows"} as ${subject.role}`;
}

/**
 * Parses a request from a log line or a curl command: `GET /rest/v1/items?id=eq.1`, or JSON with `method` and `path`.
 * Null when there is none.
 */
export function parseRequestLine(line: string): { method: string; path: string } | null {
  const fromJson = parseJsonLine(line);
  if (fromJson !== null) return fromJson;
  const method = /\b(GET|HEAD|POST|PATCH|PUT|DELETE)\b/.exec(line)?.[1] ?? "GET";
  const path = /(\/rest\/v1\/[^\s"'<>]*)/.exec(line)?.[1];
  return path === undefined ? null : { method, path };
}

function parseJsonLine(line: string): { method: string; path: string } | null {
  const start = line.indexOf("{");
  if (start < 0) return null;
  try {
    const document: unknown = JSON.parse(line.slice(start));
    if (typeof document !== "object" || document === null) return null;
    const { method, path } = document as Record<string, unknown>;
    if (typeof method !== "string" || typeof path !== "string") return null;
    return path.startsWith("/rest/v1/") ? { method: method.toUpperCase(), path } : null;
  } catch {
    return null;
  }
}
