/** The sentence that says how many rows a destructive statement would affect (CONSOLE-094). */
import { plural } from "@/lib/format";
import type { DangerKind } from "@/lib/sql/dangers";

/** One object in the response of `POST /api/sql/count`. */
export interface ObjectCount {
  name: string;
  /** Null where the object has no rows, or they could not be counted. */
  rows: number | null;
  /** Whether the rows were counted; otherwise the number is PostgreSQL's estimate. */
  exact: boolean;
  /** The reason why nothing could be counted. */
  fault: string | null;
  dependants: { kind: string; name: string }[];
}

/** Dependent objects that are named; the others are only counted. */
const namedDependants = 3;

/** Describes the counts of one statement, or why there are none. Empty when there is nothing to say. */
export function describeCounts(
  kind: DangerKind,
  counts: readonly ObjectCount[] | undefined,
  error: Error | null,
): string {
  if (counts === undefined) {
    return error === null ? "" : `how much it touches could not be counted (${error.message}).`;
  }
  const parts = counts.flatMap((count) => {
    const facts = describeObject(kind, count);
    if (facts.length === 0) return [];
    return [counts.length === 1 ? facts.join(", ") : `${count.name} ${facts.join(", ")}`];
  });
  return parts.length === 0 ? "" : `${parts.join("; ")}.`;
}

function describeObject(kind: DangerKind, count: ObjectCount): string[] {
  if (count.fault !== null) return [`could not be counted (${count.fault.replace(/\.$/, "")})`];
  const facts: string[] = [];
  if (count.rows !== null) {
    facts.push(`${count.exact ? "" : "about "}${plural(count.rows, "row")}`);
  }
  // Other statements leave dependent objects as they are.
  if (kind === "drop" && count.dependants.length > 0) {
    const named = count.dependants.slice(0, namedDependants).map(({ name }) => name);
    const more = count.dependants.length > namedDependants ? ", …" : "";
    facts.push(
      `${plural(count.dependants.length, "dependent object")} (${named.join(", ")}${more})`,
    );
  }
  return facts;
}
