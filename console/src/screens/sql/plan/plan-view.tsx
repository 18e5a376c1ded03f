/** A plan as a tree with bars for each node's own share of the time, and the advice above it. */
import { cn } from "@ui/cn";
import { Lightbulb } from "lucide-react";
import { type KeyboardEvent, useState } from "react";
import { Text } from "@/components/text";
import { type Advice, advise } from "./plan-advice";
import { listNodes, misjudgement, type Plan, type PlanNode } from "./plan-tree";

export function PlanView({ plan }: { plan: Plan }) {
  const [closed, setClosed] = useState<ReadonlySet<string>>(new Set());
  const [selected, setSelected] = useState(plan.root.id);
  const visible = listVisible(plan.root, closed);
  const node = visible.find(({ id }) => id === selected) ?? plan.root;
  const toggle = (id: string) => {
    const next = new Set(closed);
    if (!next.delete(id)) next.add(id);
    setClosed(next);
  };
  const select = (id: string) => {
    setSelected(id);
    requestAnimationFrame(() => document.getElementById(`plan-${id}`)?.focus());
  };
  return (
    <div className="flex h-full min-h-0 flex-col overflow-auto lg:flex-row lg:overflow-hidden">
      <div className="min-w-0 flex-1 lg:overflow-auto">
        <PlanTotals plan={plan} />
        <AdviceList advice={advise(plan)} onShow={select} />
        <div role="tree" aria-label="Plan" className="overflow-x-auto pb-3">
          <div className="min-w-160">
            <PlanHead wasRun={plan.wasRun} />
            {visible.map((item) => (
              <PlanRow
                key={item.id}
                node={item}
                isOpen={!closed.has(item.id)}
                isSelected={item.id === node.id}
                onSelect={() => setSelected(item.id)}
                onKeyDown={(event) => {
                  const target = nextNode(event, visible, item, closed, toggle);
                  if (target !== null) select(target);
                }}
                onToggle={() => toggle(item.id)}
              />
            ))}
          </div>
        </div>
      </div>
      <PlanDetails node={node} />
    </div>
  );
}

function listVisible(node: PlanNode, closed: ReadonlySet<string>): PlanNode[] {
  if (closed.has(node.id)) return [node];
  return [node, ...node.children.flatMap((child) => listVisible(child, closed))];
}

/** The keys of a tree: up and down between rows, left to close or to the parent, right to open or to the child. */
function nextNode(
  event: KeyboardEvent,
  visible: readonly PlanNode[],
  node: PlanNode,
  closed: ReadonlySet<string>,
  toggle: (id: string) => void,
): string | null {
  const index = visible.indexOf(node);
  const isOpen = node.children.length > 0 && !closed.has(node.id);
  const targets: Record<string, string | null | undefined> = {
    ArrowUp: visible[index - 1]?.id,
    ArrowDown: visible[index + 1]?.id,
    Home: visible[0]?.id,
    End: visible.at(-1)?.id,
    ArrowLeft: isOpen ? null : node.id.slice(0, node.id.lastIndexOf(".")) || undefined,
    ArrowRight: isOpen ? node.children[0]?.id : null,
  };
  if (!(event.key in targets)) return null;
  event.preventDefault();
  const target = targets[event.key];
  if (target === null && node.children.length > 0) toggle(node.id);
  return target ?? null;
}

function PlanTotals({ plan }: { plan: Plan }) {
  const parts = [
    plan.executionMs === null ? `estimated cost ${formatCount(plan.root.totalCost)}` : null,
    plan.executionMs === null ? null : `${formatMs(plan.executionMs)} executing`,
    plan.planningMs === null ? null : `${formatMs(plan.planningMs)} planning`,
    plan.wasRun ? "rolled back" : "not executed",
  ];
  return (
    <p className="px-3 pt-2.5 text-caption text-ink-soft tabular-nums">
      {parts.filter((part) => part !== null).join(" · ")}
    </p>
  );
}

function AdviceList({
  advice,
  onShow,
}: {
  advice: readonly Advice[];
  onShow: (node: string) => void;
}) {
  if (advice.length === 0) return null;
  return (
    <ul aria-label="Advice" className="mx-3 mt-2 rounded-sm border border-line bg-raised">
      {advice.map(({ node, title, remedy }) => (
        <li
          key={`${node} ${title}`}
          className="flex gap-2.5 border-line-soft px-3 py-2 not-last:border-b"
        >
          <Lightbulb aria-hidden="true" className="mt-0.5 size-4 shrink-0 text-warning" />
          <div className="min-w-0 flex-1">
            <p className="font-medium">
              <Text>{title}</Text>
            </p>
            <p className="text-ink-soft">
              <Text>{remedy}</Text>
            </p>
          </div>
          {node !== null && (
            <button
              type="button"
              onClick={() => onShow(node)}
              className="self-start text-caption text-ink-soft underline underline-offset-2 hover:text-ink"
            >
              Show step
            </button>
          )}
        </li>
      ))}
    </ul>
  );
}

const grid = "grid grid-cols-[minmax(16rem,1fr)_7rem_6rem_6rem_5.5rem] items-center gap-x-3";

function PlanHead({ wasRun }: { wasRun: boolean }) {
  return (
    <div
      aria-hidden="true"
      className={cn(grid, "mt-2 border-line border-b px-3 py-1 text-ink-soft text-micro")}
    >
      <span>Step</span>
      <span>{wasRun ? "Own time" : "Own cost"}</span>
      <span className="text-right">Rows guessed</span>
      <span className="text-right">{wasRun ? "Rows real" : ""}</span>
      <span className="text-right">Pages</span>
    </div>
  );
}

interface PlanRowProps {
  node: PlanNode;
  isOpen: boolean;
  isSelected: boolean;
  onSelect: () => void;
  onToggle: () => void;
  onKeyDown: (event: KeyboardEvent) => void;
}

function PlanRow({ node, isOpen, isSelected, onSelect, onToggle, onKeyDown }: PlanRowProps) {
  const factor = misjudgement(node);
  const hasChildren = node.children.length > 0;
  const own = node.selfMs === null ? formatCount(node.selfCost) : formatMs(node.selfMs);
  const wasSkipped = node.actualRows !== null && node.loops === 0;
  return (
    <div
      id={`plan-${node.id}`}
      role="treeitem"
      aria-level={node.depth + 1}
      aria-selected={isSelected}
      aria-expanded={hasChildren ? isOpen : undefined}
      tabIndex={isSelected ? 0 : -1}
      onClick={onSelect}
      onDoubleClick={onToggle}
      onKeyDown={onKeyDown}
      className={cn(
        grid,
        "cursor-default border-line-soft border-b px-3 py-1.5 focus-visible:-outline-offset-2",
        isSelected ? "bg-selected" : "hover:bg-hover",
        wasSkipped && "opacity-60",
      )}
    >
      <span className="flex min-w-0 items-baseline gap-2" style={{ paddingLeft: node.depth * 16 }}>
        <span aria-hidden="true" className="w-2 shrink-0 text-ink-soft text-micro">
          {hasChildren ? (isOpen ? "▾" : "▸") : ""}
        </span>
        <span className="whitespace-nowrap font-medium">{node.title}</span>
        <span className="truncate font-mono text-caption text-ink-soft">
          <Text>{node.target}</Text>
        </span>
      </span>
      <span className="relative isolate rounded-[3px] px-1 text-right tabular-nums">
        <span
          aria-hidden="true"
          className={cn(
            "absolute inset-y-0 right-0 -z-1 rounded-[3px]",
            node.share > 0.5 ? "bg-removed" : "bg-changed",
          )}
          style={{ width: `${Math.round(node.share * 100)}%` }}
        />
        {wasSkipped ? "never run" : own}
      </span>
      <span className="text-right tabular-nums">{formatCount(node.plannedRows)}</span>
      <span
        className={cn("text-right tabular-nums", factor !== null && factor >= 10 && "text-danger")}
      >
        {node.actualRows === null ? "" : formatCount(node.actualRows)}
        {node.loops > 1 && <span className="text-ink-soft"> ×{formatCount(node.loops)}</span>}
      </span>
      <span className="text-right text-ink-soft tabular-nums">{describePages(node)}</span>
    </div>
  );
}

function describePages({ buffers }: PlanNode): string {
  if (buffers === null) return "";
  const total = buffers.hit + buffers.read;
  return buffers.read === 0
    ? formatCount(total)
    : `${formatCount(total)} (${formatCount(buffers.read)} disk)`;
}

/** Details of the selected step in EXPLAIN's output. */
function PlanDetails({ node }: { node: PlanNode }) {
  const factor = misjudgement(node);
  const facts = [
    ...node.facts,
    ...(node.totalMs === null
      ? [{ name: "Cost with children", value: formatCount(node.totalCost) }]
      : [{ name: "Time with children", value: formatMs(node.totalMs) }]),
    ...(factor !== null && factor >= 2
      ? [{ name: "Guess off by", value: `${factor.toFixed(1)} times` }]
      : []),
    ...(node.buffers?.temp ? [{ name: "Temporary pages", value: String(node.buffers.temp) }] : []),
  ];
  return (
    <section
      aria-label="Selected step"
      className="shrink-0 border-line border-t px-4 py-3 lg:w-80 lg:overflow-auto lg:border-t-0 lg:border-l"
    >
      <h2 className="font-medium">{node.title}</h2>
      <p className="break-words font-mono text-caption text-ink-soft">
        <Text>{node.target}</Text>
      </p>
      <dl className="mt-3 space-y-2">
        {facts.map(({ name, value }) => (
          <div key={name}>
            <dt className="text-ink-soft text-micro">{name}</dt>
            <dd className="break-words font-mono text-caption">
              <Text>{value}</Text>
            </dd>
          </div>
        ))}
      </dl>
    </section>
  );
}

/** Total number of steps, for the tab's name. */
export const countSteps = (plan: Plan) => listNodes(plan.root).length;

function formatMs(ms: number): string {
  if (ms >= 1000) return `${(ms / 1000).toFixed(2)} s`;
  return `${ms.toFixed(ms < 10 ? 2 : 0)} ms`;
}

function formatCount(count: number): string {
  return Math.round(count).toLocaleString("en");
}
