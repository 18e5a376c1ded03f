import { keepPreviousData, type QueryClient, useInfiniteQuery } from "@tanstack/react-query";
import { Button } from "@ui/button";
import { cn } from "@ui/cn";
import { Pause, Play, ScrollText } from "lucide-react";
import { useMemo } from "react";
import { EmptyState } from "@/components/empty-state";
import { ErrorState } from "@/components/error-state";
import { ScreenLayout } from "@/components/screen-layout";
import { SkeletonRows } from "@/components/skeleton";
import { StaleNotice } from "@/components/stale-notice";
import { formatNumber, plural } from "@/lib/format";
import { useShortcut } from "@/lib/shortcuts";
import { useSearchState } from "@/lib/use-search-state";
import { logsQuery } from "./api";
import { padBars } from "./histogram";
import { HistogramView } from "./histogram-view";
import { type LogFilter, logFilterChange, parseLogFilter } from "./log-filter";
import { LogList } from "./log-list";
import { LogToolbar } from "./log-toolbar";
import { RequestPanel } from "./request-panel";
import { useTail } from "./use-tail";

export function prefetch(client: QueryClient): void {
  void client.prefetchInfiniteQuery(logsQuery(parseLogFilter(new URLSearchParams())));
}

/** The log of requests: search, histogram, live tail, and one request in full. The address holds all filters. */
export function Screen() {
  const [search, change] = useSearchState();
  const filter = parseLogFilter(search);
  const isLive = search.get("live") === "1";
  const open = search.get("request");
  const setFilter = (next: Partial<LogFilter>) => change(logFilterChange(next));
  useShortcut({
    keys: "t",
    label: "Live tail on or off",
    group: "Logs",
    run: () => change({ live: isLive ? null : "1" }),
  });
  return (
    <ScreenLayout
      title="Logs"
      scrolls={false}
      actions={
        <Button
          size="dense"
          aria-pressed={isLive}
          onClick={() => change({ live: isLive ? null : "1" })}
        >
          <span
            aria-hidden="true"
            className={cn("size-2 rounded-full", isLive ? "bg-success" : "bg-line-strong")}
          />
          Live
        </Button>
      }
      panel={
        open === null
          ? undefined
          : {
              label: "Request",
              onClose: () => change({ request: null }),
              content: <RequestPanel key={open} requestId={open} />,
            }
      }
    >
      <LogToolbar filter={filter} onChange={setFilter} />
      {isLive ? (
        <Live filter={filter} open={open} onOpen={(id) => change({ request: id })} />
      ) : (
        <Found
          filter={filter}
          open={open}
          onOpen={(id) => change({ request: id })}
          onSpan={setFilter}
        />
      )}
    </ScreenLayout>
  );
}

interface ListProps {
  filter: LogFilter;
  open: string | null;
  onOpen: (requestId: string) => void;
}

interface FoundProps extends ListProps {
  onSpan: (span: { from: string; to: string }) => void;
}

function Found({ filter, open, onOpen, onSpan }: FoundProps) {
  // The list stays while another search is answered, and with it the focus of the keyboard.
  const logs = useInfiniteQuery({ ...logsQuery(filter), placeholderData: keepPreviousData });
  const entries = useMemo(
    () => logs.data?.pages.flatMap((page) => page.entries) ?? [],
    [logs.data],
  );
  if (logs.isPending) return <SkeletonRows rows={14} />;
  if (logs.isLoadingError) {
    return (
      <ErrorState
        title="The log could not be loaded"
        error={logs.error}
        onRetry={() => logs.refetch()}
      />
    );
  }
  return (
    <>
      <StaleNotice query={logs} />
      <HistogramView bars={padBars(logs.data.pages[0]?.histogram ?? [])} onSelect={onSpan} />
      {entries.length === 0 ? (
        <EmptyState
          icon={ScrollText}
          title="No request matches."
          text="The log begins anew when the server starts, and keeps the newest 32 MB."
        />
      ) : (
        <LogList
          entries={entries}
          open={open}
          onOpen={(entry) => onOpen(entry.request_id)}
          onEndReached={() => {
            if (logs.hasNextPage && !logs.isFetching) void logs.fetchNextPage();
          }}
        />
      )}
    </>
  );
}

function Live({ filter, open, onOpen }: ListProps) {
  const tail = useTail(filter, true);
  return (
    <>
      <div className="flex min-h-10 items-center gap-3 border-line-soft border-b bg-surface px-4 text-caption max-md:px-3">
        <p role="status" className="min-w-0 flex-1 truncate text-ink-soft">
          {tail.isConnected ? "Following new requests" : "The connection broke off; trying again…"}
          {tail.skipped > 0 && `, ${formatNumber(tail.skipped)} were too many to show`}
          {tail.waiting.length > 0 && `, ${plural(tail.waiting.length, "new request")} waiting`}
        </p>
        <Button size="dense" aria-pressed={tail.isHeld} onClick={() => tail.hold(!tail.isHeld)}>
          {tail.isHeld ? (
            <Play aria-hidden="true" className="size-3.5" />
          ) : (
            <Pause aria-hidden="true" className="size-3.5" />
          )}
          {tail.isHeld ? "Go on" : "Hold still"}
        </Button>
      </div>
      {tail.entries.length === 0 ? (
        <EmptyState icon={ScrollText} title="New requests appear here as they are answered." />
      ) : (
        <LogList
          entries={tail.entries}
          open={open}
          onOpen={(entry) => {
            tail.hold(true);
            onOpen(entry.request_id);
          }}
          onEndReached={() => undefined}
        />
      )}
    </>
  );
}
