import { useQuery } from "@tanstack/react-query";
import { Button } from "@ui/button";
import { CircleHelp } from "lucide-react";
import { Link } from "react-router";
import { Badge } from "@/components/badge";
import { CodeBlock } from "@/components/code-block";
import { CopyButton } from "@/components/copy-button";
import { ErrorNotice } from "@/components/error-state";
import { Facts } from "@/components/facts";
import { SkeletonRows } from "@/components/skeleton";
import { StaleNotice } from "@/components/stale-notice";
import { Text } from "@/components/text";
import { formatDuration, formatNumber } from "@/lib/format";
import { formatClock, formatTime } from "@/lib/format-time";
import { writeExact } from "@/lib/json-text";
import { requestQuery } from "./api";
import { outcomeOf, type RequestDetails } from "./log-entry";
import { simulateLink } from "./simulate-link";

/** A request with its log lines, statements and claims, and a link to the simulator. */
export function RequestPanel({ requestId }: { requestId: string }) {
  const details = useQuery(requestQuery(requestId));
  if (details.isPending) return <SkeletonRows rows={8} />;
  if (details.isLoadingError) {
    return (
      <div className="p-4">
        <ErrorNotice
          title="The request could not be found"
          error={details.error}
          safe="The log keeps the newest 32 MB; older requests are gone."
          onRetry={() => details.refetch()}
        />
      </div>
    );
  }
  const { entry, claims } = details.data;
  const outcome = outcomeOf(entry.status);
  return (
    <div className="grid grid-cols-[minmax(0,1fr)] gap-5 p-4">
      <StaleNotice query={details} />
      <p className="flex items-start gap-2 break-all font-mono text-label">
        <Badge
          tone={
            outcome === "server_error"
              ? "danger"
              : outcome === "client_error"
                ? "warning"
                : "success"
          }
        >
          {entry.status}
        </Badge>
        <span className="min-w-0">
          {entry.method} <Text>{entry.path}</Text>
        </span>
      </p>
      {entry.message != null && entry.message !== "" && (
        <p className="text-caption text-danger">
          <Text multiline>{entry.message}</Text>
        </p>
      )}
      {entry.service === "rest" && (
        <Button asChild size="dense" className="justify-self-start">
          <Link to={simulateLink(entry)}>
            <CircleHelp aria-hidden="true" className="size-3.5" />
            {outcome === "ok" ? "Why these rows?" : "Simulate"}
          </Link>
        </Button>
      )}
      <Facts
        facts={[
          ["Time", formatTime(entry.time)],
          ["Took", formatDuration(entry.duration_ms)],
          ["Service", entry.service],
          ["Role", entry.role],
          [
            "User",
            entry.user === null ? null : (
              <Link
                key="user"
                to={`/users?open=${encodeURIComponent(entry.user)}`}
                className="font-mono text-label underline underline-offset-2"
              >
                {entry.user}
              </Link>
            ),
          ],
          ["Address", entry.address],
          [
            "Request",
            <span key="request" className="flex items-center gap-1 font-mono text-label">
              <span className="truncate">
                <Text>{entry.request_id}</Text>
              </span>
              <CopyButton text={entry.request_id} label="Copy request id" />
            </span>,
          ],
        ]}
      />
      <Statements details={details.data} />
      <Lines details={details.data} />
      {claims !== null && (
        <div>
          <h3 className="mb-1.5 font-medium text-caption">Claims</h3>
          <CodeBlock label="claims" code={writeExact(claims, 2)} />
        </div>
      )}
    </div>
  );
}

function Statements({ details }: { details: RequestDetails }) {
  return (
    <section aria-label="Statements">
      <h3 className="mb-1.5 font-medium text-caption">Statements</h3>
      {details.statements.length === 0 ? (
        <p className="text-caption text-ink-soft">
          {details.kept === true
            ? "It sent none that the log sees: the log keeps those of the REST service."
            : "They are kept for errors, for slow requests, and while the log is followed live."}
        </p>
      ) : (
        <ol className="grid grid-cols-[minmax(0,1fr)] gap-2">
          {details.statements.map((statement, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: statements of a request never change their order.
            <li key={index}>
              <p className="mb-1 flex gap-3 text-ink-soft text-label">
                <span>{formatDuration(statement.ms)}</span>
                {statement.rows !== null && <span>{formatNumber(statement.rows)} rows</span>}
              </p>
              <CodeBlock label={`statement ${index + 1}`} code={statement.shape} />
            </li>
          ))}
        </ol>
      )}
    </section>
  );
}

function Lines({ details }: { details: RequestDetails }) {
  if (details.lines.length === 0) return null;
  return (
    <section aria-label="Lines">
      <h3 className="mb-1.5 font-medium text-caption">Lines</h3>
      <ol className="grid gap-1 rounded-sm border border-line bg-canvas p-2 font-mono text-label">
        {details.lines.map((line, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: lines of a request never change their order.
          <li key={index} className="break-words">
            <span className="text-ink-soft">{formatClock(line.time)}</span>{" "}
            <span className={line.level === "error" ? "text-danger" : "text-ink-soft"}>
              {line.level}
            </span>{" "}
            <Text multiline>{line.message}</Text>
          </li>
        ))}
      </ol>
    </section>
  );
}
