/** A row by columns. */
export type Row = Record<string, unknown>;

/** PostgREST's code for a single row that was not found. */
export const notOneRowCode = "PGRST116";
/** Code of an `OvertakenError`, for places that do not load what throws it before it is needed. */
export const overtakenCode = "overtaken";
/** Code of the database for a row that has another version than the one that was sent. */
const otherVersion = "PT409";

/** The present row, which the database sends when it refuses an update of an older version; null for other responses. */
export function presentRowOf(error: unknown): Row | null {
  if (typeof error !== "object" || error === null) return null;
  const { code, details } = error as { code?: unknown; details?: unknown };
  if (code !== otherVersion || typeof details !== "string") return null;
  try {
    const present: unknown = JSON.parse(details);
    return typeof present === "object" && present !== null ? (present as Row) : null;
  } catch {
    return null;
  }
}
