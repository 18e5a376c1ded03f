import { useQuery } from "@tanstack/react-query";
import { Timer } from "lucide-react";
import { CodeBlock } from "@/components/code-block";
import { Dialog } from "@/components/dialog";
import { EmptyState } from "@/components/empty-state";
import { ErrorNotice } from "@/components/error-state";
import { Facts } from "@/components/facts";
import { Select } from "@/components/input";
import { SkeletonRows } from "@/components/skeleton";
import { StaleNotice } from "@/components/stale-notice";
import { Text } from "@/components/text";
import { formatCompact, formatDuration, formatNumber } from "@/lib/format";
import { useSearchState } from "@/lib/use-search-state";
import { planQuery, type SlowOrder, type SlowQuery, slowQueriesQuery } from "./api";
import { flattenPlan, summarizeStatement } from "./plan";
import { cardClasses, Section } from "./section";

const orders: { value: SlowOrder; label: string }[] = [
  { value: "total", label: "Most time in total" },
  { value: "mean", label: "Slowest on average" },
  { value: "calls", label: "Most calls" },
];

/** The statements with the longest total time in pg_stat_statements. */
export function SlowQueriesSection() {
  const [search, change] = useSearchState();
  const order = orders.find(({ value }) => value === search.get("slow"))?.value ?? "total";
  const slow = useQuery(slowQueriesQuery(order));
  const open = slow.data?.queries.find(({ id }) => id !== null && id === search.get("query"));
  return (
    <Section
      title="Slow queries"
      actions={
        <Select
          aria-label="Order of slow queries"
          className="w-44"
          value={order}
          onChange={(event) =>
            change({ slow: event.target.value === "total" ? null : event.target.value })
          }
        >
          {orders.map(({ value, label }) => (
            <option key={value} value={value}>
              {label}
            </option>
          ))}
        </Select>
      }
    >
      <StaleNotice query={slow} />
      {slow.isPending ? (
        <SkeletonRows rows={6} />
      ) : slow.isLoadingError ? (
        <ErrorNotice
          title="The slow queries could not be loaded"
          error={slow.error}
          onRetry={() => slow.refetch()}
        />
      ) : !slow.data.available || slow.data.queries.length === 0 ? (
        <div className={cardClasses}>
          <EmptyState
            icon={Timer}
            title={
              slow.data.available
                ? "No statement has been counted yet."
                : "PostgreSQL does not count statements here."
            }
            text={slow.data.remedy ?? undefined}
          />
        </div>
      ) : (
        <SlowTable queries={slow.data.queries} onOpen={({ id }) => change({ query: id })} />
      )}
      {open !== undefined && <QueryDialog query={open} onClose={() => change({ query: null })} />}
    </Section>
  );
}

interface SlowTableProps {
  queries: readonly SlowQuery[];
  onOpen: (query: SlowQuery) => void;
}

function SlowTable({ queries, onOpen }: SlowTableProps) {
  return (
    <div className={`${cardClasses} overflow-x-auto`}>
      <table className="w-full text-caption">
        <thead>
          <tr className="border-line border-b text-left text-ink-soft text-label">
            <th scope="col" className="px-4 py-1.5 font-normal">
              Statement
            </th>
            <th scope="col" className="px-3 py-1.5 text-right font-normal">
              Total
            </th>
            <th scope="col" className="px-3 py-1.5 text-right font-normal">
              Mean
            </th>
            <th scope="col" className="px-4 py-1.5 text-right font-normal">
              Calls
            </th>
          </tr>
        </thead>
        <tbody className="divide-y divide-line-soft">
          {queries.slice(0, 20).map((query, index) => (
            <tr key={query.id ?? index} className="hover:bg-hover">
              <td className="w-full max-w-0 px-4 py-1">
                <button
                  type="button"
                  onClick={() => onOpen(query)}
                  className="block w-full truncate py-1 text-left font-mono text-label"
                >
                  <Text>{summarizeStatement(textOf(query))}</Text>
                </button>
              </td>
              <td className="whitespace-nowrap px-3 text-right">
                {formatDuration(query.total_ms)}
              </td>
              <td className="whitespace-nowrap px-3 text-right">{formatDuration(query.mean_ms)}</td>
              <td className="whitespace-nowrap px-4 text-right">{formatCompact(query.calls)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function textOf({ query }: SlowQuery): string {
  return query ?? "(a statement of another role, which PostgreSQL does not show)";
}

function QueryDialog({ query, onClose }: { query: SlowQuery; onClose: () => void }) {
  const plan = useQuery(planQuery(textOf(query)));
  return (
    <Dialog title="Slow query" width="wide" isDirty={false} onClose={onClose}>
      <div className="grid grid-cols-[minmax(0,1fr)] gap-4">
        <CodeBlock label="statement" code={textOf(query)} />
        <Facts
          facts={[
            ["Calls", formatNumber(query.calls)],
            ["In total", formatDuration(query.total_ms)],
            ["On average", formatDuration(query.mean_ms)],
            ["Rows", formatNumber(query.rows)],
          ]}
        />
        <section aria-label="Plan">
          <h3 className="mb-1.5 font-medium text-caption">Plan</h3>
          {plan.isPending && <SkeletonRows rows={4} />}
          {plan.isError && (
            <ErrorNotice title="PostgreSQL makes no plan for it" error={plan.error} />
          )}
          {plan.isSuccess && <PlanLines plan={plan.data.plan} />}
        </section>
      </div>
    </Dialog>
  );
}

function PlanLines({ plan }: { plan: unknown }) {
  return (
    <ol className="overflow-x-auto rounded-sm border border-line bg-canvas py-1.5 font-mono text-label">
      {flattenPlan(plan).map((node, index) => (
        <li
          // biome-ignore lint/suspicious/noArrayIndexKey: a plan is shown once and never reordered.
          key={index}
          className="flex gap-4 whitespace-nowrap px-3 py-0.5"
          style={{ paddingLeft: `${0.75 + node.depth * 1.25}rem` }}
        >
          <span className="flex-1">
            <Text>{node.title}</Text>
            {node.condition !== null && (
              <span className="text-ink-soft">
                {" "}
                <Text>{node.condition}</Text>
              </span>
            )}
          </span>
          <span className="text-ink-soft">
            cost {formatCompact(node.cost)}, {formatCompact(node.rows)} rows
          </span>
        </li>
      ))}
    </ol>
  );
}
