import { infiniteQueryOptions, useInfiniteQuery } from "@tanstack/react-query";
import { Fingerprint } from "lucide-react";
import { useMemo } from "react";
import { Link } from "react-router";
import { request, withQuery } from "@/api/client";
import { Badge } from "@/components/badge";
import { CodeBlock } from "@/components/code-block";
import { EmptyState } from "@/components/empty-state";
import { ErrorState } from "@/components/error-state";
import { Facts } from "@/components/facts";
import { RowGrid } from "@/components/row-grid";
import { ScreenLayout } from "@/components/screen-layout";
import { SearchInput } from "@/components/search-input";
import { SkeletonRows } from "@/components/skeleton";
import { StaleNotice } from "@/components/stale-notice";
import { Text } from "@/components/text";
import { formatNumber } from "@/lib/format";
import { formatTime } from "@/lib/format-time";
import { useSearchState } from "@/lib/use-search-state";

interface AuditEntry {
  id: string;
  time: string;
  account: string | null;
  level: string;
  address: string;
  action: string;
  target: string;
  statement: string | null;
  rows: number | null;
  result: string;
  request_id: string;
}

const pageSize = 100;

function auditQuery(account: string, action: string) {
  return infiniteQueryOptions({
    queryKey: ["audit", account, action],
    initialPageParam: null as string | null,
    queryFn: ({ signal, pageParam }) =>
      request<{ entries: AuditEntry[] }>(
        withQuery("/api/audit", { account, action, before: pageParam, limit: pageSize }),
        { signal },
      ),
    getNextPageParam: ({ entries }) =>
      entries.length === pageSize ? (entries.at(-1)?.id ?? null) : null,
  });
}

/** The audit log of this console, newest first. Entries cannot be changed, not even by the project's own roles. */
export function Screen() {
  const [search, change] = useSearchState();
  const account = search.get("account") ?? "";
  const action = search.get("action") ?? "";
  const audit = useInfiniteQuery(auditQuery(account, action));
  const entries = useMemo(
    () => audit.data?.pages.flatMap((page) => page.entries) ?? [],
    [audit.data],
  );
  const open = entries.find(({ id }) => id === search.get("open"));
  const isFiltered = account !== "" || action !== "";
  return (
    <ScreenLayout
      title="Audit"
      scrolls={false}
      panel={
        open === undefined
          ? undefined
          : {
              label: open.action,
              onClose: () => change({ open: null }),
              content: <AuditPanel entry={open} />,
            }
      }
    >
      <div className="flex min-h-12 flex-wrap items-center gap-2 border-line-soft border-b px-4 py-1.5 max-md:px-3">
        {(["account", "action"] as const).map((name) => (
          <SearchInput
            key={name}
            label={name === "account" ? "Account" : "Action, such as rows.apply"}
            className="w-56 max-md:w-full"
            value={search.get(name) ?? ""}
            onChange={(value) => {
              if (value !== (search.get(name) ?? "")) change({ [name]: value }, { replace: true });
            }}
          />
        ))}
      </div>
      <StaleNotice query={audit} />
      {audit.isPending ? (
        <SkeletonRows rows={12} />
      ) : audit.isLoadingError ? (
        <ErrorState
          title="The audit could not be loaded"
          error={audit.error}
          onRetry={() => audit.refetch()}
        />
      ) : entries.length === 0 ? (
        <EmptyState
          icon={Fingerprint}
          title={isFiltered ? "No entry matches." : "Nothing has been changed in this console yet."}
          text={isFiltered ? "Account and action are compared as a whole." : undefined}
        />
      ) : (
        <AuditList
          entries={entries}
          open={open?.id ?? null}
          onOpen={(entry) => change({ open: entry.id })}
          onEndReached={() => {
            if (audit.hasNextPage && !audit.isFetchingNextPage) void audit.fetchNextPage();
          }}
        />
      )}
    </ScreenLayout>
  );
}

/** What has only begun is written before it is done, so that there is no deed without an entry. */
const isFailure = (result: string): boolean => result !== "ok" && result !== "started";

/** The target, or the text of SQL, of which the target is only the role. */
const whatWasDone = ({ action, target, statement }: AuditEntry): string =>
  action === "sql.run" && statement !== null ? statement.slice(0, 200) : target;

interface AuditListProps {
  entries: readonly AuditEntry[];
  open: string | null;
  onOpen: (entry: AuditEntry) => void;
  onEndReached: () => void;
}

function AuditList({ entries, open, onOpen, onEndReached }: AuditListProps) {
  return (
    <RowGrid
      label="Audit"
      rows={entries}
      rowKey={({ id }) => id}
      openKey={open}
      onOpen={onOpen}
      onEndReached={onEndReached}
      rowTone={({ result }) => (isFailure(result) ? "danger" : undefined)}
      columns={[
        {
          key: "time",
          header: "Time",
          width: "11.5rem",
          cell: ({ time }) => <span className="text-ink-soft">{formatTime(time)}</span>,
        },
        {
          key: "action",
          header: "Action",
          width: "minmax(0,1fr)",
          cell: ({ action, result }) => (
            <>
              <span className="truncate">
                <Text>{action}</Text>
              </span>
              {result !== "ok" && (
                <Badge tone={isFailure(result) ? "danger" : "neutral"}>{result}</Badge>
              )}
            </>
          ),
        },
        {
          key: "target",
          header: "Target",
          width: "minmax(0,1.4fr)",
          wideOnly: true,
          cell: (entry) => (
            <code className="truncate font-mono text-label">
              <Text>{whatWasDone(entry)}</Text>
            </code>
          ),
        },
        {
          key: "account",
          header: "Account",
          width: "minmax(0,0.7fr)",
          wideOnly: true,
          cell: ({ account }) => (
            <span className="truncate text-ink-soft">
              <Text>{account ?? "–"}</Text>
            </span>
          ),
        },
        {
          key: "rows",
          header: "Rows",
          width: "4.5rem",
          align: "end",
          wideOnly: true,
          cell: ({ rows }) => (rows === null ? "" : formatNumber(rows)),
        },
      ]}
    />
  );
}

function AuditPanel({ entry }: { entry: AuditEntry }) {
  return (
    <div className="grid grid-cols-[minmax(0,1fr)] gap-4 p-4">
      <Facts
        facts={[
          ["Time", formatTime(entry.time)],
          ["Account", entry.account ?? "–"],
          ["Level", entry.level],
          ["Address", entry.address],
          ["Target", entry.target],
          ["Result", entry.result],
          ["Rows", entry.rows === null ? null : formatNumber(entry.rows)],
          [
            "Request",
            entry.request_id === "" ? null : (
              <Link
                key="request"
                to={`/logs?request=${encodeURIComponent(entry.request_id)}`}
                className="font-mono text-label underline underline-offset-2"
              >
                {entry.request_id}
              </Link>
            ),
          ],
        ]}
      />
      {entry.statement !== null && <CodeBlock label="statement" code={entry.statement} />}
    </div>
  );
}
