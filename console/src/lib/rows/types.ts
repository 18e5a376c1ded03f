import { request, send } from "@/api/client";
import type { Subject } from "@/api/subject";

/** A value as PostgreSQL's text; null is SQL NULL. */
export type Value = string | null;

/**
 * Identifies a row: its primary key, or its physical position (ctid) in a table without one. `xmin` changes when the row
 * does.
 */
export interface RowId {
  key?: Value[];
  tableoid?: string;
  ctid?: string;
  xmin?: string;
}

export interface Filter {
  column: string;
  operator: string;
  value: string;
  /** Path of keys into a JSON column. */
  path?: string[];
}

export interface Sort {
  column: string;
  descending: boolean;
  nulls_first: boolean;
}

export interface ReadRequest {
  table: string;
  columns?: string[];
  filters: Filter[];
  sort: Sort[];
  limit?: number;
  after?: string;
  before?: string;
  end?: boolean;
  subject?: Subject;
}

export interface RowPage {
  columns: { name: string; type: string }[];
  rows: Value[][];
  ids: RowId[];
  /** Cells that were truncated to 2 kB: the row's index, the column's name, and the full size in bytes. */
  cuts: { row: number; column: string; bytes: number }[];
  next: string | null;
  previous: string | null;
  /** False when a sort or filter had to read the whole table. */
  index_used: boolean;
  elapsed_ms: number;
  sql: string;
}

/** The new value of a cell. */
export type Cell = { value: Value } | { default: true };

export type Values = Record<string, Cell>;
export type Base = Record<string, Value>;

export type Change =
  | { kind: "insert"; table: string; values: Values }
  | { kind: "update"; table: string; row: RowId; base: Base; values: Values }
  | { kind: "delete"; table: string; row: RowId; base: Base }
  | { kind: "update_matching"; table: string; filters: Filter[]; values: Values; expected: number };

export interface ApplyAnswer {
  applied: boolean;
  statements: string[];
  undo: Change[];
  rows: ({ id: RowId; values: Base } | null)[];
  notes: string[];
  /** True where an earlier request with the same id had applied the changes. */
  repeated?: boolean;
}

/** A row that was changed by another person after it was read. */
export interface Conflict {
  /** Index of the change in the request. */
  change: number;
  base: Base;
  /** Null when the row was deleted. */
  theirs: Base | null;
  mine: Base | null;
  /** The row's present address, with which the change can be sent again. */
  id: RowId | null;
}

export const readRows = (body: ReadRequest, signal?: AbortSignal): Promise<RowPage> =>
  request<RowPage>("/api/rows/read", { json: body, signal });

export const countRows = (
  body: { table: string; filters: Filter[]; exact: boolean; subject?: Subject },
  signal?: AbortSignal,
): Promise<{ count: number; exact: boolean }> => request("/api/rows/count", { json: body, signal });

/** The whole value of a cell, of which a page holds the beginning alone. */
export async function readCell(
  body: { table: string; row: RowId; column: string; subject: Subject },
  signal?: AbortSignal,
): Promise<Value> {
  const { subject, ...cell } = body;
  const json = { ...cell, ...(subject.kind !== "admin" && { subject }) };
  const response = await send("/api/rows/cell", { json, signal });
  if (response.status === 204) return null;
  // `text()` would take a U+FEFF at the beginning, which belongs to the value, for a byte order mark.
  return new TextDecoder("utf-8", { ignoreBOM: true }).decode(await response.arrayBuffer());
}

/** The statements of changes as the server would run them. */
export const previewChanges = (changes: Change[]): Promise<ApplyAnswer> =>
  request<ApplyAnswer>("/api/rows/apply", { json: { changes, preview: true } });

/** Applies changes. A second request with the same id gets the first one's answer and applies nothing. */
export const applyChanges = (changes: Change[], id: string): Promise<ApplyAnswer> =>
  request<ApplyAnswer>("/api/rows/apply", { json: { changes, request_id: id } });

/** Asks what became of a request whose answer was lost. One that has not arrived by now will never be applied. */
export const settleRequest = (id: string): Promise<ApplyAnswer | { applied: false }> =>
  request<ApplyAnswer | { applied: false }>("/api/rows/apply/settle", { json: { request_id: id } });

/** Thousands of rows are compared at each edit, and an address never changes. */
const rowKeys = new WeakMap<RowId, string>();

/** A row's address as text, without `xmin`: equal for the same row before and after a change of its other cells. */
export function rowKey(id: RowId): string {
  const known = rowKeys.get(id);
  if (known !== undefined) return known;
  const key = JSON.stringify(id.key ?? [id.tableoid, id.ctid]);
  rowKeys.set(id, key);
  return key;
}
