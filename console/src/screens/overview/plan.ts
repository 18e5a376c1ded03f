/** A plan of `EXPLAIN (FORMAT JSON)` as lines. */

export interface PlanLine {
  depth: number;
  title: string;
  /** The index condition, filter or join condition. */
  condition: string | null;
  cost: number;
  rows: number;
}

type PlanNode = Record<string, unknown>;

/** Returns the plan's nodes from the top downwards; no lines if the text is not a plan. */
export function flattenPlan(answer: unknown): PlanLine[] {
  const first: unknown = Array.isArray(answer) ? answer[0] : answer;
  const top = isNode(first) && isNode(first.Plan) ? first.Plan : first;
  return isNode(top) && typeof top["Node Type"] === "string" ? readNode(top, 0) : [];
}

function isNode(value: unknown): value is PlanNode {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function readNode(node: PlanNode, depth: number): PlanLine[] {
  const text = (key: string) => (typeof node[key] === "string" ? node[key] : null);
  const number = (key: string) => (typeof node[key] === "number" ? node[key] : 0);
  const target = text("Relation Name") ?? text("Index Name") ?? text("CTE Name");
  const index = text("Index Name");
  const using = index !== null && index !== target ? ` using ${index}` : "";
  const title = `${text("Node Type")}${using}${target === null ? "" : ` on ${target}`}`;
  const condition =
    text("Index Cond") ??
    text("Hash Cond") ??
    text("Merge Cond") ??
    text("Join Filter") ??
    text("Filter");
  const children: unknown[] = Array.isArray(node.Plans) ? node.Plans : [];
  return [
    { depth, title, condition, cost: number("Total Cost"), rows: number("Plan Rows") },
    ...children.filter(isNode).flatMap((child) => readNode(child, depth + 1)),
  ];
}

/** A statement in one line, without the comments in front of it. */
export function summarizeStatement(sql: string): string {
  const withoutComments = sql.replace(/^(\s*(--[^\n]*(\n|$)|\/\*[\s\S]*?\*\/))+/, "");
  return (withoutComments.trim() === "" ? sql : withoutComments).replace(/\s+/g, " ").trim();
}
