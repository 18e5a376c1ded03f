/** Asks for the plan of one statement. */
import { request } from "@/api/client";
import type { Subject } from "@/api/subject";
import { splitStatements } from "@/lib/sql/statements";
import { isWord } from "@/lib/sql/tokens";
import { type Plan, readPlan } from "./plan-tree";

export async function explainStatement(
  text: string,
  analyze: boolean,
  subject: Subject,
): Promise<Plan> {
  const body = await request<{ plan: unknown }>("/api/sql/explain", {
    json: { text, analyze, subject },
  });
  const plan = readPlan(body.plan);
  if (plan === null) throw new Error("PostgreSQL makes no plan for this statement.");
  return plan;
}

/** Whether EXPLAIN ANALYZE would write rows. Such a run is rolled back, but must be confirmed first. */
export function writesRows(text: string): boolean {
  return splitStatements(text).some(({ tokens }) =>
    tokens.some((token) => isWord(token, "insert", "update", "delete", "merge", "call", "do")),
  );
}

/** Why the text has no plan, or null when it can be asked for. */
export function whyNotExplained(text: string): string | null {
  const statements = splitStatements(text);
  if (statements.length === 0) return "Write a statement first.";
  if (statements.length > 1) return "Put the cursor into one statement or select it.";
  return null;
}
