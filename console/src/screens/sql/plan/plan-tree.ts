/** A plan from `EXPLAIN (FORMAT JSON)` as a tree of nodes with their own share of time, and what is wrong with it. */

/** PostgreSQL's JSON of a node, as far as it is read here. */
export interface RawPlan {
  [key: string]: unknown;
  Plans?: RawPlan[];
}

export interface PlanNode {
  id: string;
  depth: number;
  /** "Index Scan", with the join type or strategy where there is one. */
  title: string;
  type: string;
  /** `public.items as i`, `items_pkey`: what the node reads. */
  target: string;
  relation: string | null;
  /** Conditions and keys, as in EXPLAIN's output. */
  facts: { name: string; value: string }[];
  plannedRows: number;
  /** Rows of all loops together; null when the plan was not run. */
  actualRows: number | null;
  loops: number;
  /** Milliseconds of all loops, those of the children included. */
  totalMs: number | null;
  /** The step's own time, without that of its children. */
  selfMs: number | null;
  totalCost: number;
  selfCost: number;
  /** Part of the whole, 0 to 1: of time when it was run, else of cost. */
  share: number;
  /** Pages read from the cache, from disk, and from temporary files. */
  buffers: { hit: number; read: number; temp: number } | null;
  removedRows: number;
  raw: RawPlan;
  children: PlanNode[];
}

export interface Plan {
  root: PlanNode;
  planningMs: number | null;
  executionMs: number | null;
  jitMs: number;
  triggers: { name: string; ms: number; calls: number }[];
  wasRun: boolean;
}

/** Parses the document; null for anything that is not a plan, such as the result of a utility statement. */
export function readPlan(document: unknown): Plan | null {
  const top: unknown = Array.isArray(document) ? document[0] : document;
  if (!isRecord(top) || !isRecord(top.Plan)) return null;
  const wasRun = typeof top.Plan["Actual Loops"] === "number";
  const root = readNode(top.Plan, "0", 0, wasRun);
  const whole = wasRun ? (root.totalMs ?? 0) : root.totalCost;
  fillShares(root, whole, wasRun);
  const jit = isRecord(top.JIT) && isRecord(top.JIT.Timing) ? top.JIT.Timing.Total : undefined;
  return {
    root,
    planningMs: numberOrNull(top["Planning Time"]),
    executionMs: numberOrNull(top["Execution Time"]),
    jitMs: typeof jit === "number" ? jit : 0,
    triggers: readTriggers(top.Triggers),
    wasRun,
  };
}

function readTriggers(value: unknown): Plan["triggers"] {
  if (!Array.isArray(value)) return [];
  return value.filter(isRecord).map((trigger) => ({
    name: String(trigger["Trigger Name"] ?? trigger["Constraint Name"] ?? ""),
    ms: numberOrNull(trigger.Time) ?? 0,
    calls: numberOrNull(trigger.Calls) ?? 0,
  }));
}

function readNode(raw: RawPlan, id: string, depth: number, wasRun: boolean): PlanNode {
  const children = (raw.Plans ?? []).map((child, index) =>
    readNode(child, `${id}.${index}`, depth + 1, wasRun),
  );
  const loops = numberOf(raw, "Actual Loops");
  const totalMs = wasRun ? numberOf(raw, "Actual Total Time") * loops : null;
  const childMs = sum(children.map((child) => child.totalMs ?? 0));
  const totalCost = numberOf(raw, "Total Cost");
  const childCost = sum(children.map((child) => child.totalCost));
  return {
    id,
    depth,
    title: titleOf(raw),
    type: textOf(raw, "Node Type"),
    target: targetOf(raw),
    relation: relationOf(raw),
    facts: factsOf(raw),
    plannedRows: numberOf(raw, "Plan Rows"),
    actualRows: wasRun ? Math.round(numberOf(raw, "Actual Rows") * loops) : null,
    loops,
    totalMs,
    selfMs: totalMs === null ? null : Math.max(0, totalMs - childMs),
    totalCost,
    selfCost: Math.max(0, totalCost - childCost),
    share: 0,
    buffers: buffersOf(raw, raw.Plans ?? []),
    removedRows:
      (numberOf(raw, "Rows Removed by Filter") + numberOf(raw, "Rows Removed by Join Filter")) *
      Math.max(1, loops),
    raw,
    children,
  };
}

function fillShares(node: PlanNode, whole: number, wasRun: boolean): void {
  const own = wasRun ? (node.selfMs ?? 0) : node.selfCost;
  node.share = whole > 0 ? Math.min(1, own / whole) : 0;
  for (const child of node.children) fillShares(child, whole, wasRun);
}

function titleOf(raw: RawPlan): string {
  const type = textOf(raw, "Node Type");
  const join = textOf(raw, "Join Type");
  const strategy = textOf(raw, "Strategy");
  if (join !== "" && join !== "Inner") return type.replace(/( Join)?$/, ` ${join} Join`);
  if (type === "Aggregate" && strategy !== "" && strategy !== "Plain") {
    return `${strategy === "Hashed" ? "Hash" : "Group"} Aggregate`;
  }
  if (type === "ModifyTable") return textOf(raw, "Operation");
  if (type === "Index Only Scan" || type === "Index Scan") {
    return textOf(raw, "Scan Direction") === "Backward" ? `${type} Backward` : type;
  }
  return raw["Parallel Aware"] === true ? `Parallel ${type}` : type;
}

function relationOf(raw: RawPlan): string | null {
  const name = textOf(raw, "Relation Name");
  if (name === "") return null;
  const schema = textOf(raw, "Schema");
  return schema === "" || schema === "public" ? name : `${schema}.${name}`;
}

function targetOf(raw: RawPlan): string {
  const relation = relationOf(raw) ?? textOf(raw, "Function Name");
  const alias = textOf(raw, "Alias");
  const index = textOf(raw, "Index Name");
  const query = textOf(raw, "CTE Name") || textOf(raw, "Subplan Name");
  const withAlias =
    alias !== "" && alias !== textOf(raw, "Relation Name") && relation !== ""
      ? `${relation} as ${alias}`
      : relation;
  return [withAlias, index === "" ? "" : `by ${index}`, query].filter(Boolean).join(" ");
}

const factNames = [
  "Index Cond",
  "Recheck Cond",
  "Hash Cond",
  "Merge Cond",
  "Join Filter",
  "Filter",
  "One-Time Filter",
  "TID Cond",
  "Sort Key",
  "Group Key",
  "Sort Method",
  "Sort Space Used",
  "Sort Space Type",
  "Rows Removed by Filter",
  "Rows Removed by Join Filter",
  "Rows Removed by Index Recheck",
  "Heap Fetches",
  "Hash Batches",
  "Peak Memory Usage",
  "Workers Planned",
  "Workers Launched",
];

function factsOf(raw: RawPlan): PlanNode["facts"] {
  return factNames
    .filter((name) => raw[name] !== undefined && raw[name] !== 0)
    .map((name) => {
      const value = raw[name];
      return { name, value: Array.isArray(value) ? value.join(", ") : String(value) };
    });
}

/** PostgreSQL counts a child's pages in its parents too; this subtracts them again. */
function buffersOf(raw: RawPlan, children: readonly RawPlan[]): PlanNode["buffers"] {
  if (raw["Shared Hit Blocks"] === undefined) return null;
  const own = (name: string) =>
    Math.max(0, numberOf(raw, name) - sum(children.map((child) => numberOf(child, name))));
  return {
    hit: own("Shared Hit Blocks"),
    read: own("Shared Read Blocks"),
    temp: own("Temp Read Blocks") + own("Temp Written Blocks"),
  };
}

/** All nodes from the top, as the tree is read. */
export function listNodes(node: PlanNode): PlanNode[] {
  return [node, ...node.children.flatMap(listNodes)];
}

/** How far the planner's guess was off, as a factor of at least 1; null when the plan was not run. */
export function misjudgement(node: PlanNode): number | null {
  if (node.actualRows === null || node.loops === 0) return null;
  const actual = Math.max(1, node.actualRows / node.loops);
  const planned = Math.max(1, node.plannedRows);
  return Math.max(actual / planned, planned / actual);
}

function isRecord(value: unknown): value is RawPlan {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
function numberOrNull(value: unknown): number | null {
  return typeof value === "number" ? value : null;
}
function numberOf(raw: RawPlan, name: string): number {
  return numberOrNull(raw[name]) ?? 0;
}
function textOf(raw: RawPlan, name: string): string {
  const value = raw[name];
  return typeof value === "string" ? value : "";
}
function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
