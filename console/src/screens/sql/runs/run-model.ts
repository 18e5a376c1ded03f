/**
 * A run of SQL as the editor shows it: results per statement, messages and outcome, built from the events of `POST
 * /api/sql/runs`. Rows are appended in place, because copying 100 000 of them for each batch would block the page;
 * `version` tells React that something changed.
 */

export interface ResultColumn {
  name: string;
  type: string;
  /** Oid of the table that the values come from, and its column; null for expressions. */
  table: string | null;
  column: string | null;
}

/** A value of which only the beginning was sent; `row` counts within its event. */
interface Cut {
  row: number;
  column: number;
  bytes: number;
}

export interface RunFault {
  code: string;
  message: string;
  detail?: string | null;
  hint?: string | null;
  /** 1-based, in characters of the text that was sent. */
  position?: number | null;
}

export type RunEvent =
  | { event: "statement"; index: number; start: number; end: number }
  | { event: "columns"; index: number; columns: (Partial<ResultColumn> & { name: string })[] }
  | { event: "rows"; index: number; rows: (string | null)[][]; cuts?: Cut[] }
  | { event: "notice"; severity: string; message: string }
  | {
      event: "done";
      index: number;
      tag: string;
      rows: number;
      elapsed_ms: number;
      truncated?: boolean;
      notices_left_out?: number;
    }
  /** Without an index it is about the run, such as a deferred constraint that fails at the commit. */
  | ({ event: "error"; index: number | null } & RunFault)
  | { event: "end"; committed: boolean; elapsed_ms: number };

export interface StatementResult {
  index: number;
  /** Offset of the statement in the sent text, in characters. */
  start: number;
  end: number;
  status: "running" | "done" | "failed";
  columns: readonly ResultColumn[] | null;
  rows: (readonly (string | null)[])[];
  /** Bytes of values that were cut, by `row:column`. */
  cuts: Map<string, number>;
  tag: string;
  /** Rows returned or changed, as the server counted them. */
  count: number;
  elapsedMs: number | null;
  /** The server stopped sending at its limit; the export has all. */
  isTruncated: boolean;
  fault: RunFault | null;
}

export interface RunMessage {
  severity: string;
  message: string;
}

export type RunStatus = "running" | "done" | "failed" | "cancelled" | "lost";

export interface Run {
  id: string;
  /** The text as sent; positions refer to it. */
  text: string;
  /** Where the sent text begins in the editor, when only a part of it was run. */
  offset: number;
  startedAt: number;
  status: RunStatus;
  /** Whether the connection broke before the server reported an end. */
  isLost: boolean;
  results: StatementResult[];
  messages: RunMessage[];
  /** Null until the server has said so. */
  isCommitted: boolean | null;
  elapsedMs: number | null;
  version: number;
}

export function createRun(id: string, text: string, offset: number, startedAt: number): Run {
  return {
    id,
    text,
    offset,
    startedAt,
    status: "running",
    isLost: false,
    results: [],
    messages: [],
    isCommitted: null,
    elapsedMs: null,
    version: 0,
  };
}

/** Notices kept per run: a statement in a loop can raise millions. */
const messageLimit = 1000;

/** Takes one event into the run. An unknown event is ignored, so that a newer server may say more. */
export function applyEvent(run: Run, event: RunEvent): void {
  run.version += 1;
  switch (event.event) {
    case "statement":
      Object.assign(resultAt(run, event.index), { start: event.start, end: event.end });
      break;
    case "columns":
      resultAt(run, event.index).columns = event.columns.map(
        ({ name, type, table, column }): ResultColumn => ({
          name,
          type: type ?? "",
          table: table ?? null,
          column: column ?? null,
        }),
      );
      break;
    case "rows": {
      const { rows, cuts } = resultAt(run, event.index);
      for (const { row, column, bytes } of event.cuts ?? []) {
        cuts.set(`${rows.length + row}:${column}`, bytes);
      }
      for (const row of event.rows) rows.push(row);
      break;
    }
    case "notice":
      addMessage(run, { severity: event.severity, message: event.message });
      break;
    case "done":
      finishResult(run, event);
      break;
    case "error":
      failResult(run, event.index, event);
      break;
    case "end":
      run.isCommitted = event.committed;
      run.elapsedMs = event.elapsed_ms;
      if (run.status === "running") run.status = "done";
      break;
  }
}

function finishResult(run: Run, event: Extract<RunEvent, { event: "done" }>): void {
  const result = resultAt(run, event.index);
  // A write returns no rows; the number of changed rows is at the end of its command tag, as in `INSERT 0 3`.
  const changed = Number(/ (\d+)$/.exec(event.tag)?.[1] ?? 0);
  result.status = "done";
  result.tag = event.tag;
  result.count = result.columns === null ? changed : event.rows;
  result.elapsedMs = event.elapsed_ms;
  result.isTruncated = event.truncated === true;
  if (event.notices_left_out) {
    const message = `${event.notices_left_out.toLocaleString("en")} more messages were left out.`;
    addMessage(run, { severity: "INFO", message });
  }
}

function failResult(run: Run, index: number | null, fault: RunFault): void {
  const result = resultAt(run, index ?? run.results.length);
  result.status = "failed";
  const { code, message, detail = null, hint = null, position = null } = fault;
  result.fault = { code, message, detail, hint, position };
  // Not "failed" when the user stopped it: 57014 is then the wanted outcome.
  if (run.status !== "cancelled") run.status = "failed";
}

function addMessage(run: Run, message: RunMessage): void {
  if (run.messages.length < messageLimit) run.messages.push(message);
  else if (run.messages.length === messageLimit) {
    const text = `Only the first ${messageLimit} messages are kept.`;
    run.messages.push({ severity: "INFO", message: text });
  }
}

function resultAt(run: Run, index: number): StatementResult {
  const found = run.results.find((result) => result.index === index);
  if (found !== undefined) return found;
  const result: StatementResult = {
    index,
    start: 0,
    end: 0,
    status: "running",
    columns: null,
    rows: [],
    cuts: new Map(),
    tag: "",
    count: 0,
    elapsedMs: null,
    isTruncated: false,
    fault: null,
  };
  run.results.push(result);
  return result;
}

/** The connection broke before `end`: what arrived is shown, and nothing is claimed about the transaction. */
export function markLost(run: Run): void {
  if (run.status === "running") run.status = "lost";
  run.isLost = true;
  run.version += 1;
}

/** The user asked to stop; the server's own error for it may still follow. */
export function markCancelled(run: Run): void {
  if (run.status === "running") run.status = "cancelled";
  run.version += 1;
}

/** A sentence for the status line that says what happened to the data. */
export function describeOutcome(run: Run): string {
  const failed = run.results.find(({ status }) => status === "failed");
  switch (run.status) {
    case "running":
      return "Running";
    case "lost":
      return "The connection broke before the server reported an end. Check whether the changes are there.";
    case "cancelled":
      if (run.isLost) {
        return "Cancelled, and the connection broke before the server reported an end. Check whether the changes are there.";
      }
      if (run.isCommitted === null) return "Cancelling";
      return run.isCommitted
        ? "Cancelled. What had finished before is kept."
        : "Cancelled. Nothing was changed.";
    case "failed":
      return run.isCommitted === true
        ? `Statement ${(failed?.index ?? 0) + 1} failed. Those before it are kept.`
        : "Failed. Everything was rolled back.";
    case "done":
      return run.isCommitted === false ? "Done, and rolled back." : "Done";
  }
}

/** Name of a result's tab: the command, and how many rows it returned or changed. */
export function nameResult(result: StatementResult): string {
  if (result.status === "failed") return "Error";
  if (result.status === "running") return result.columns === null ? "Running" : "Loading";
  const command = result.tag.replace(/[\d ]+$/, "").trim() || "Done";
  return result.columns === null && !/^(insert|update|delete|merge|copy)/i.test(command)
    ? command
    : `${command} ${result.count.toLocaleString("en")}`;
}
