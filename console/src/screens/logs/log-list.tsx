import { cn } from "@ui/cn";
import { RowGrid } from "@/components/row-grid";
import { Text } from "@/components/text";
import { formatDuration } from "@/lib/format";
import { formatClock, formatTime } from "@/lib/format-time";
import { type LogEntry, type Outcome, outcomeOf } from "./log-entry";

interface LogListProps {
  entries: readonly LogEntry[];
  open: string | null;
  onOpen: (entry: LogEntry) => void;
  onEndReached: () => void;
}

const outcomeClasses: Record<Outcome, string> = {
  ok: "text-success",
  redirect: "text-info",
  client_error: "text-warning",
  server_error: "text-danger",
};

/** Requests, newest first. */
export function LogList({ entries, open, onOpen, onEndReached }: LogListProps) {
  return (
    <RowGrid
      label="Requests"
      rows={entries}
      rowKey={({ id }) => id}
      openKey={entries.find((entry) => entry.request_id === open)?.id ?? null}
      onOpen={onOpen}
      onEndReached={onEndReached}
      rowTone={({ status }) => (status >= 500 ? "danger" : undefined)}
      columns={[
        {
          key: "time",
          header: "Time",
          width: "6.75rem",
          cell: ({ time }) => (
            <time dateTime={time} title={formatTime(time)} className="text-ink-soft tabular-nums">
              {formatClock(time)}
            </time>
          ),
        },
        {
          key: "status",
          header: "Status",
          width: "3rem",
          cell: ({ status }) => (
            <span className={cn("font-medium tabular-nums", outcomeClasses[outcomeOf(status)])}>
              {status}
            </span>
          ),
        },
        {
          key: "service",
          header: "Service",
          width: "5rem",
          wideOnly: true,
          cell: ({ service }) => <span className="text-ink-soft">{service}</span>,
        },
        {
          key: "request",
          header: "Request",
          width: "minmax(0,1fr)",
          cell: ({ method, path, message }) => (
            <span className="truncate font-mono text-label">
              <span className="text-ink-soft">{method}</span> <Text>{path}</Text>
              {message != null && message !== "" && (
                <span className="text-danger">
                  {" "}
                  <Text>{message}</Text>
                </span>
              )}
            </span>
          ),
        },
        {
          key: "role",
          header: "Role",
          width: "7rem",
          wideOnly: true,
          cell: ({ role }) => (
            <span className="truncate text-ink-soft">
              <Text>{role ?? "–"}</Text>
            </span>
          ),
        },
        {
          key: "duration",
          header: "Took",
          width: "4.5rem",
          align: "end",
          wideOnly: true,
          cell: ({ duration_ms: ms }) => formatDuration(ms),
        },
      ]}
    />
  );
}
