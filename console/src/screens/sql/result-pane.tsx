/** Below the editor: a tab per result, the messages, the plan, and how the run ended. */
import { Button } from "@ui/button";
import { Spinner } from "@ui/spinner";
import { Terminal } from "lucide-react";
import { EmptyState } from "@/components/empty-state";
import { Kbd } from "@/components/kbd";
import { ResultGrid } from "@/components/result-grid";
import { Tabs } from "@/components/tabs";
import { Text } from "@/components/text";
import { formatDuration, formatNumber, plural } from "@/lib/format";
import { ExportMenu } from "./export-menu";
import type { Plan } from "./plan/plan-tree";
import { PlanView } from "./plan/plan-view";
import { describeOutcome, nameResult, type Run, type StatementResult } from "./runs/run-model";
import { useElapsed } from "./use-sql-runner";

interface ResultPaneProps {
  run: Run | undefined;
  plan: Plan | null;
  /** The open tab: a result's index, `messages` or `plan`. */
  tab: string | null;
  onTab: (tab: string) => void;
  onOpenCell: (result: StatementResult, row: number, column: number) => void;
  /** Moves the cursor to an error. */
  onReveal: (position: number) => void;
}

export function ResultPane({ run, plan, tab, onTab, onOpenCell, onReveal }: ResultPaneProps) {
  if (run === undefined && plan === null) return <NothingRun />;
  const results = run?.results ?? [];
  const messages = run?.messages ?? [];
  const tabs = [
    ...results.map((result) => ({ value: String(result.index), label: nameResult(result) })),
    ...(run === undefined
      ? []
      : [{ value: "messages", label: `Messages ${messages.length || ""}`.trim() }]),
    ...(plan === null ? [] : [{ value: "plan", label: "Plan" }]),
  ];
  const current =
    tabs.find(({ value }) => value === tab)?.value ?? chooseTab(run) ?? tabs[0]?.value;
  const result = results.find(({ index }) => String(index) === current);
  return (
    <Tabs
      label="Results"
      value={current ?? "messages"}
      onChange={onTab}
      tabs={tabs}
      aside={
        <div className="flex items-center gap-2">
          {run !== undefined && <RunStatus run={run} result={result} />}
          {result?.columns != null && <ExportMenu result={result} />}
        </div>
      }
    >
      {current === "plan" && plan !== null ? (
        <PlanView plan={plan} />
      ) : result !== undefined ? (
        <Result
          result={result}
          outcome={run === undefined ? "" : describeOutcome(run)}
          onOpen={(row, column) => onOpenCell(result, row, column)}
          onReveal={onReveal}
        />
      ) : (
        <Messages run={run} />
      )}
    </Tabs>
  );
}

/** The tab that is shown first: the error, else the last result with rows, else the last result. */
function chooseTab(run: Run | undefined): string | undefined {
  if (run === undefined) return undefined;
  const failed = run.results.find(({ status }) => status === "failed");
  const withRows = run.results.findLast(({ columns }) => columns !== null);
  const chosen = failed ?? withRows ?? run.results.at(-1);
  return chosen && String(chosen.index);
}

function NothingRun() {
  return (
    <EmptyState
      icon={Terminal}
      title="Results appear here"
      text={
        <>
          <span className="pointer-coarse:hidden">
            Run everything or the selection with <Kbd keys="mod+enter" />, the statement at the
            cursor with <Kbd keys="mod+shift+enter" />.
          </span>
          <span className="pointer-fine:hidden">Each statement gets a tab of its own.</span>
        </>
      }
    />
  );
}

function RunStatus({ run, result }: { run: Run; result: StatementResult | undefined }) {
  const isRunning = run.status === "running";
  const elapsed = useElapsed(run.startedAt, isRunning);
  if (isRunning) {
    return (
      <p className="flex items-center gap-1.5 whitespace-nowrap text-caption text-ink-soft tabular-nums">
        <Spinner size="sm" /> {formatDuration(elapsed)}
      </p>
    );
  }
  const rows = result?.columns == null ? null : plural(result.count, "row");
  const time = result?.elapsedMs ?? run.elapsedMs;
  const parts = [
    rows,
    time === null ? null : formatDuration(time),
    run.status === "done" ? (run.isCommitted === false ? "rolled back" : null) : null,
  ];
  return (
    <p
      role="status"
      className="whitespace-nowrap text-caption text-ink-soft tabular-nums max-sm:hidden"
    >
      <span className="sr-only">{describeOutcome(run)} </span>
      {parts.filter((part) => part !== null).join(" · ")}
    </p>
  );
}

interface ResultProps {
  result: StatementResult;
  /** How the whole run ended. */
  outcome: string;
  onOpen: (row: number, column: number) => void;
  onReveal: (position: number) => void;
}

function Result({ result, outcome, onOpen, onReveal }: ResultProps) {
  if (result.fault !== null) {
    return <Failure result={result} outcome={outcome} onReveal={onReveal} />;
  }
  if (result.columns === null) {
    return (
      <p className="px-4 py-3 text-ink-soft">
        {result.status === "running"
          ? "Running …"
          : `${result.tag}: ${result.count > 0 ? plural(result.count, "row") : "done"}.`}
      </p>
    );
  }
  return (
    <>
      {result.isTruncated && (
        <p className="shrink-0 border-line border-b bg-changed px-4 py-1.5 text-caption">
          The first {formatNumber(result.rows.length)} rows are shown. Narrow the query to see
          others.
        </p>
      )}
      {result.rows.length === 0 && result.status === "done" ? (
        <p className="px-4 py-3 text-ink-soft">
          No rows. Columns: {result.columns.map(({ name }) => name).join(", ") || "none"}.
        </p>
      ) : (
        <ResultGrid
          label="Rows of the result"
          columns={result.columns}
          rows={result.rows}
          rowCount={result.rows.length}
          cuts={result.cuts}
          onOpen={onOpen}
          className="min-h-0 flex-1"
        />
      )}
    </>
  );
}

function Failure({ result, outcome, onReveal }: Omit<ResultProps, "onOpen">) {
  const { fault } = result;
  if (fault === null) return null;
  const { code, message, detail, hint, position } = fault;
  return (
    <div role="alert" className="overflow-auto px-4 py-3">
      <p className="font-mono text-danger">
        {code} <Text multiline>{message}</Text>
      </p>
      {detail && (
        <p className="mt-1 text-ink-soft">
          <Text multiline>{detail}</Text>
        </p>
      )}
      {hint && (
        <p className="mt-1">
          <span className="text-ink-soft">Hint: </span>
          <Text multiline>{hint}</Text>
        </p>
      )}
      <p className="mt-1 text-ink-soft">{outcome}</p>
      {position != null && (
        <Button size="dense" className="mt-3" onClick={() => onReveal(position)}>
          Show in the text
        </Button>
      )}
    </div>
  );
}

function Messages({ run }: { run: Run | undefined }) {
  if (run === undefined) return null;
  return (
    <ol className="overflow-auto px-4 py-3 font-mono text-caption" aria-label="Messages">
      {run.messages.map(({ severity, message }, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the same notice can come many times, and they never move.
        <li key={index}>
          <span className="text-ink-soft">{severity}</span> <Text multiline>{message}</Text>
        </li>
      ))}
      <li className="text-ink-soft">
        {describeOutcome(run)}
        {run.elapsedMs === null ? "" : ` · ${formatDuration(run.elapsedMs)}`}
      </li>
    </ol>
  );
}
