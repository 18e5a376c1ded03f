/** A row by columns. */
export type Row = Record<string, unknown>;

/** PostgREST's code for a single row that was not found. */
export const notOneRowCode = "PGRST116";
/** Code of an `OvertakenError`, for places that do not load what throws it before it is needed. */
export const overtakenCode = "overtaken";
/** Code of the database for a row that has another version than the one that was sent. */
const otherVersion = "PT409";

/** The version of a row that nobody has saved since it was made. */
export const firstVersion = 1;

/** Whether the database has refused an update because the row has another version than the one that was sent. */
export function isOtherVersion(error: unknown): boolean {
  return (
    typeof error === "object" && error !== null && "code" in error && error.code === otherVersion
  );
}
