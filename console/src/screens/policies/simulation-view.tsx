/** The simulator's answer: steps in order, rows × policies with verdicts and operands, and the real result beside. */
import { cn } from "@ui/cn";
import { Check, CircleAlert, CircleCheck, CircleX, Minus, X } from "lucide-react";
import { useState } from "react";
import { CellValue, ResultGrid } from "@/components/result-grid";
import { Text } from "@/components/text";
import { formatNumber, plural } from "@/lib/format";
import {
  changeOf,
  countChanges,
  describeVerdict,
  explainRow,
  explainUnsaved,
  type RowChange,
  type RowVerdict,
  type SimulatedRow,
  type Simulation,
  type SimulationStep,
  summarize,
  type Verdict,
  verdictsOf,
} from "./simulation";

export function SimulationView({ simulation }: { simulation: Simulation }) {
  return (
    <div className="space-y-5">
      <Headline simulation={simulation} />
      <Steps steps={simulation.steps} />
      {simulation.rows.length > 0 && <RowsByPolicies simulation={simulation} />}
      <Truth simulation={simulation} />
    </div>
  );
}

function Headline({ simulation }: { simulation: Simulation }) {
  const isRefused = (simulation.truth?.error ?? null) !== null;
  return (
    <header aria-live="polite">
      <div className="flex flex-wrap items-center gap-x-3 gap-y-1">
        <h3 className={cn("font-semibold text-small", isRefused && "text-danger")}>
          <Text>{summarize(simulation)}</Text>
        </h3>
        {simulation.agrees === true && (
          <span className="inline-flex items-center gap-1 text-caption text-success">
            <CircleCheck aria-hidden="true" className="size-3.5" />
            explanation and real result agree
          </span>
        )}
        {simulation.agrees === false && (
          <span className="inline-flex items-center gap-1 text-caption text-warning">
            <CircleAlert aria-hidden="true" className="size-3.5" />
            explanation and real result differ
          </span>
        )}
      </div>
      {simulation.banners.map((banner) => (
        <p
          key={banner}
          className="mt-2 rounded-sm border border-line bg-changed px-3 py-2 text-caption"
        >
          <Text>{banner}</Text>
        </p>
      ))}
    </header>
  );
}

const stepNames: Record<SimulationStep["step"], string> = {
  exposed: "Schema exposed",
  privilege: "Privileges",
  rls: "Row-level security",
  policies: "Policies",
  limit: "Limit",
  result: "Result",
};

function Steps({ steps }: { steps: readonly SimulationStep[] }) {
  return (
    <ol aria-label="Steps" className="overflow-hidden rounded-sm border border-line bg-raised">
      {steps.map(({ step, ok, text, details }, index) => (
        <li
          // biome-ignore lint/suspicious/noArrayIndexKey: two tables of one request can have the same step.
          key={index}
          className="flex gap-2.5 border-line-soft px-3 py-2 not-last:border-b"
        >
          {ok ? (
            <Check aria-label="passed" className="mt-0.5 size-4 shrink-0 text-success" />
          ) : (
            <X aria-label="refused" className="mt-0.5 size-4 shrink-0 text-danger" />
          )}
          <div className="min-w-0">
            <p>
              <span className="font-medium">{stepNames[step] ?? step}</span>
              <span className="text-ink-soft"> · </span>
              <Text>{text}</Text>
            </p>
            {(details ?? []).map((line) => (
              <p key={line} className="break-words font-mono text-caption text-ink-soft">
                <Text>{line}</Text>
              </p>
            ))}
          </div>
        </li>
      ))}
    </ol>
  );
}

const changeLooks: Record<RowChange, string> = {
  appears: "bg-added",
  vanishes: "bg-removed",
  stays: "",
};

function RowsByPolicies({ simulation }: { simulation: Simulation }) {
  const [chosen, setChosen] = useState(0);
  const { rows } = simulation;
  const current = rows[chosen] ?? rows[0];
  const columns = simulation.policies.flatMap((policy, index) =>
    policy.applies ? [{ policy, index }] : [],
  );
  const isCompared = rows.some((row) => row.allowed_unsaved !== undefined);
  const counts = countChanges(rows);
  return (
    <section aria-labelledby="rows-title">
      <div className="mb-1.5 flex flex-wrap items-baseline gap-x-3">
        <h3 id="rows-title" className="font-semibold">
          Rows × policies
        </h3>
        {isCompared && (
          <p className="text-caption text-ink-soft" role="status">
            With the unsaved policy: {counts.appears} appear, {counts.vanishes} vanish,{" "}
            {counts.stays} stay.
          </p>
        )}
      </div>
      <div className="max-h-96 overflow-auto rounded-sm border border-line bg-raised">
        <table className="w-full border-collapse text-left text-caption">
          <thead className="sticky top-0 z-5 bg-surface">
            <tr className="border-line border-b">
              <th scope="col" className="px-3 py-1.5 font-medium">
                Row
              </th>
              {columns.map(({ policy }) => (
                <th key={policy.name} scope="col" className="px-2 py-1.5 font-medium">
                  <span className="block max-w-44 truncate" title={policy.name}>
                    <Text>{policy.name}</Text>
                  </span>
                  <span className="font-normal text-ink-soft text-micro">
                    {policy.unsaved && <em className="text-warning">unsaved · </em>}
                    {policy.replaced && <em>replaced · </em>}
                    {policy.permissive ? "permissive" : "restrictive"}
                  </span>
                </th>
              ))}
              <th scope="col" className="px-3 py-1.5 font-medium">
                Result
              </th>
            </tr>
          </thead>
          <tbody>
            {rows.map((row, index) => (
              <tr
                key={JSON.stringify(row.id) + JSON.stringify(row.values)}
                aria-current={index === chosen || undefined}
                className={cn(
                  "border-line-soft not-last:border-b",
                  changeLooks[changeOf(row)],
                  index === chosen && "outline-2 -outline-offset-2 outline-line-strong",
                )}
              >
                <th scope="row" className="p-0 font-normal">
                  <button
                    type="button"
                    onClick={() => setChosen(index)}
                    className="block w-full max-w-56 truncate px-3 py-1.5 text-left font-mono hover:underline"
                  >
                    <Text>{nameRow(row)}</Text>
                  </button>
                </th>
                {columns.map(({ policy, index: policyIndex }) => (
                  <td key={policy.name} className="px-2 py-1.5">
                    <span className="flex flex-wrap gap-1">
                      {verdictsOf(row, policyIndex).map((verdict) => (
                        <VerdictChip
                          key={`${verdict.part} ${verdict.row}`}
                          verdict={verdict}
                          label={describeVerdict(policy, verdict)}
                        />
                      ))}
                    </span>
                  </td>
                ))}
                <td className="whitespace-nowrap px-3 py-1.5">
                  <RowResult row={row} />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {current !== undefined && <RowExplanation row={current} simulation={simulation} />}
    </section>
  );
}

/** The key of the row; without one its first value that has a text, or its place. */
function nameRow(row: SimulatedRow): string {
  if (row.id === null) return "new row";
  if ("key" in row.id) return row.id.key.join(", ") || "empty key";
  // An empty text would leave nothing to read and to press.
  const first = Object.values(row.values).find((value) => value !== null && value.trim() !== "");
  return first ?? `row ${row.id.ctid}`;
}

const verdictLooks: Record<Verdict, { look: string; word: string }> = {
  pass: { look: "bg-added text-success", word: "pass" },
  fail: { look: "bg-removed text-danger", word: "fail" },
  null: { look: "bg-changed text-warning", word: "null" },
  error: { look: "bg-removed text-danger", word: "error" },
};

function VerdictChip({ verdict, label }: { verdict: RowVerdict; label: string }) {
  const { look, word } = verdictLooks[verdict.verdict];
  return (
    <span title={label} className={cn("rounded-[3px] px-1.5 font-medium text-micro", look)}>
      {verdict.part === "check" ? "check " : ""}
      {verdict.row === "old" ? "" : `${verdict.row} `}
      {word}
    </span>
  );
}

function RowResult({ row }: { row: SimulatedRow }) {
  const change = changeOf(row);
  if (change !== "stays") {
    return <span className="font-medium">{change}</span>;
  }
  return row.allowed ? (
    <span className="inline-flex items-center gap-1 text-success">
      <CircleCheck aria-hidden="true" className="size-3.5" /> allowed
    </span>
  ) : (
    <span className="inline-flex items-center gap-1 text-danger">
      <CircleX aria-hidden="true" className="size-3.5" /> denied
    </span>
  );
}

/** One row in words: what allowed or denied it, each condition with the values of its operands. */
function RowExplanation({ row, simulation }: { row: SimulatedRow; simulation: Simulation }) {
  return (
    <div className="mt-3 rounded-sm border border-line bg-raised px-3 py-2.5">
      <p className="font-medium" role="status">
        <Text>{explainRow(row, simulation.policies)}</Text>
      </p>
      {explainUnsaved(row) !== null && (
        <p>
          <Text>{explainUnsaved(row) ?? ""}</Text>
        </p>
      )}
      <ul className="mt-2 space-y-2.5">
        {row.verdicts.map((verdict) => {
          const policy = simulation.policies[verdict.policy];
          if (policy === undefined) return null;
          return (
            <li key={`${verdict.policy} ${verdict.part} ${verdict.command} ${verdict.row}`}>
              <p className="flex flex-wrap items-baseline gap-2">
                <VerdictChip verdict={verdict} label={describeVerdict(policy, verdict)} />
                <span className="font-medium">
                  <Text>{policy.name}</Text>
                </span>
                <code className="break-all font-mono text-caption text-ink-soft">
                  {verdict.part === "using" ? "using " : "with check "}
                  <Text>{(verdict.part === "using" ? policy.using : policy.check) ?? "true"}</Text>
                </code>
              </p>
              {verdict.error && (
                <p className="text-caption text-danger">
                  <Text>{verdict.error}</Text>
                </p>
              )}
              {(verdict.operands ?? []).length > 0 && <Operands verdict={verdict} />}
            </li>
          );
        })}
      </ul>
      <details className="mt-2.5">
        <summary className="text-caption text-ink-soft">Values of the row</summary>
        <dl className="mt-1.5 grid grid-cols-[auto_minmax(0,1fr)] gap-x-4 gap-y-1 font-mono text-caption">
          {Object.entries(row.values).map(([name, value]) => (
            <div key={name} className="contents">
              <dt className="text-ink-soft">
                <Text>{name}</Text>
              </dt>
              <dd className="flex min-w-0">
                <CellValue value={value} />
              </dd>
            </div>
          ))}
        </dl>
      </details>
    </div>
  );
}

function Operands({ verdict }: { verdict: RowVerdict }) {
  return (
    <dl className="mt-1 ml-2 grid grid-cols-[auto_minmax(0,1fr)] gap-x-3 gap-y-0.5 border-line border-l pl-3 font-mono text-caption">
      {(verdict.operands ?? []).map(({ text, value }) => (
        <div key={text} className="contents">
          <dt className="break-all">
            <Text>{text}</Text>
          </dt>
          <dd className="flex min-w-0 gap-1.5">
            <span className="text-ink-soft">=</span>
            <CellValue value={value} />
          </dd>
        </div>
      ))}
    </dl>
  );
}

function Truth({ simulation: { truth } }: { simulation: Simulation }) {
  if (truth === null) return null;
  const rows = truth.rows ?? [];
  const names = Object.keys(rows[0] ?? {});
  return (
    <section aria-labelledby="truth-title">
      <h3 id="truth-title" className="mb-1.5 font-semibold">
        Real result, rolled back
      </h3>
      {truth.error !== null ? (
        <p className="rounded-sm border border-danger/40 bg-removed px-3 py-2">
          <span className="font-mono">{truth.error.code}</span> <Text>{truth.error.message}</Text>
        </p>
      ) : rows.length === 0 ? (
        <p className="flex items-center gap-2 rounded-sm border border-line border-dashed px-3 py-4 text-ink-soft">
          <Minus aria-hidden="true" className="size-4" />
          {truth.count ? `${truth.count} rows changed, none returned.` : "No rows."}
        </p>
      ) : (
        <>
          {truth.count !== null && rows.length < truth.count && (
            <p className="mb-1.5 text-caption text-ink-soft">
              The first {formatNumber(rows.length)} of {plural(truth.count, "row")}.
            </p>
          )}
          <ResultGrid
            label="Rows of the real result"
            columns={names.map((name) => ({ name, type: "" }))}
            rows={rows.map((row) => names.map((name) => row[name] ?? null))}
            rowCount={rows.length}
            className="max-h-72 rounded-sm border border-line bg-raised"
          />
        </>
      )}
    </section>
  );
}
