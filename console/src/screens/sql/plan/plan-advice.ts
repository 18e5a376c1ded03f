/** Finds the reasons why a plan is slow, and advises how to fix them (CONSOLE-095). */
import { formatBytes } from "@/lib/format";
import { listNodes, misjudgement, type Plan, type PlanNode } from "./plan-tree";

export interface Advice {
  /** The node it is about; null when it is about the whole. */
  node: string | null;
  title: string;
  remedy: string;
  /** Part of the whole time or cost that is at stake, for the order of the list. */
  weight: number;
}

/** Findings, those with most at stake first. */
export function advise(plan: Plan): Advice[] {
  const advice = listNodes(plan.root).flatMap((node) =>
    checks.flatMap((check) => {
      const found = check(node);
      return found === null ? [] : [{ ...found, node: node.id, weight: node.share }];
    }),
  );
  return [...advice, ...adviseOnWhole(plan)].sort((a, b) => b.weight - a.weight);
}

type Finding = Pick<Advice, "title" | "remedy">;

const checks: readonly ((node: PlanNode) => Finding | null)[] = [
  checkRowPolicy,
  checkWastedScan,
  checkMisjudgement,
  checkSpilledSort,
  checkSpilledHash,
  checkHeapFetches,
  checkRepeatedScan,
];

/** A function of a policy is called for each row, unless it is wrapped in a subquery. */
function checkRowPolicy(node: PlanNode): Finding | null {
  const filter = String(node.raw.Filter ?? "");
  const call = /\b(auth\.(?:uid|jwt|role|email)|current_setting)\(/.exec(filter)?.[1];
  if (call === undefined || (node.actualRows ?? node.plannedRows) + node.removedRows < 1000) {
    return null;
  }
  return {
    title: `${call}() runs once per row of ${node.relation ?? "the result"}`,
    remedy: `Write (select ${call}(…)) in the policy: PostgreSQL then calls it once per query.`,
  };
}

function checkWastedScan(node: PlanNode): Finding | null {
  if (!node.type.includes("Seq Scan") || node.actualRows === null) return null;
  const read = node.actualRows + node.removedRows;
  if (read < 5000 || node.removedRows < read * 0.9) return null;
  const filter = String(node.raw.Filter ?? "");
  return {
    title: `${format(read)} rows of ${node.relation ?? "a table"} were read to keep ${format(node.actualRows)}`,
    remedy: `An index on the columns of its condition ${filter} would find them directly.`,
  };
}

function checkMisjudgement(node: PlanNode): Finding | null {
  const factor = misjudgement(node);
  if (factor === null || factor < 10 || node.relation === null) return null;
  const actual = (node.actualRows ?? 0) / Math.max(1, node.loops);
  if (Math.max(actual, node.plannedRows) < 100) return null;
  return {
    title: `${format(node.plannedRows)} rows of ${node.relation} were expected, ${format(Math.round(actual))} came`,
    remedy: `Run analyze ${node.relation}. If it stays, columns depend on each other: create statistics tells the planner.`,
  };
}

function checkSpilledSort(node: PlanNode): Finding | null {
  if (node.raw["Sort Space Type"] !== "Disk") return null;
  // PostgreSQL counts in units of 1 024 bytes here.
  const bytes = Number(node.raw["Sort Space Used"] ?? 0) * 1024;
  return {
    title: `The sort wrote ${formatBytes(bytes)} to disk`,
    remedy:
      "An index in the order of the sort key avoids it; more work_mem for this query helps too.",
  };
}

function checkSpilledHash(node: PlanNode): Finding | null {
  const batches = Number(node.raw["Hash Batches"] ?? 1);
  if (batches <= 1) return null;
  return {
    title: `The hash table did not fit into memory and was split into ${batches} parts`,
    remedy: "More work_mem for this query keeps it in memory; fewer columns make it smaller.",
  };
}

function checkHeapFetches(node: PlanNode): Finding | null {
  const fetches = Number(node.raw["Heap Fetches"] ?? 0);
  if (fetches < 1000 || fetches < (node.actualRows ?? 0) / 2) return null;
  return {
    title: `The index-only scan of ${node.relation ?? "a table"} had to look into the table ${format(fetches)} times`,
    remedy: `Run vacuum ${node.relation ?? ""}, so that the table's pages are known to be visible to all.`,
  };
}

function checkRepeatedScan(node: PlanNode): Finding | null {
  if (!node.type.includes("Seq Scan") || node.loops < 100) return null;
  const read = (node.actualRows ?? 0) + node.removedRows;
  if (read < 10_000) return null;
  return {
    title: `${node.relation ?? "A table"} was read whole ${format(node.loops)} times`,
    remedy: "An index on the column it is joined by turns each time into a short look-up.",
  };
}

function adviseOnWhole(plan: Plan): Advice[] {
  const advice: Advice[] = [];
  const execution = plan.executionMs ?? 0;
  if (plan.jitMs > 50 && plan.jitMs > execution * 0.3) {
    advice.push({
      node: null,
      title: `Compiling took ${Math.round(plan.jitMs)} ms of ${Math.round(execution)}`,
      remedy: "set jit = off for this query, or raise jit_above_cost.",
      weight: plan.jitMs / execution,
    });
  }
  for (const trigger of plan.triggers) {
    if (trigger.ms < 10 || trigger.ms < execution * 0.3) continue;
    advice.push({
      node: null,
      title: `Trigger ${trigger.name} took ${Math.round(trigger.ms)} ms in ${format(trigger.calls)} calls`,
      remedy: "For a foreign key this means that the referencing column has no index.",
      weight: trigger.ms / execution,
    });
  }
  return advice;
}

function format(count: number): string {
  return count.toLocaleString("en");
}
