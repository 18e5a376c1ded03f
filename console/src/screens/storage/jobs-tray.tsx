import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { IconButton } from "@ui/icon-button";
import { X } from "lucide-react";
import { useEffect, useRef } from "react";
import { Badge } from "@/components/badge";
import { Text } from "@/components/text";
import { formatNumber } from "@/lib/format";
import { cancelJob, jobsQuery, objectsKey, type StorageJob } from "./api";
import { ProgressBar } from "./progress-bar";

const verbs = { rename: "Renaming", move: "Moving", copy: "Copying", delete: "Deleting" };

/** How long a finished job stays in sight. */
const shownAfterEndMs = 10 * 60_000;

/** Jobs on folders that run in the server, and those that ended a short time ago. */
export function JobsTray({ bucket }: { bucket: string }) {
  const client = useQueryClient();
  const { data } = useQuery(jobsQuery);
  const jobs = (data?.jobs ?? []).filter(
    (job) =>
      job.bucket === bucket &&
      (job.state === "running" || Date.now() - Date.parse(job.created_at) < shownAfterEndMs),
  );
  const running = jobs.filter(({ state }) => state === "running").length;
  const before = useRef(running);
  useEffect(() => {
    if (running < before.current) void client.invalidateQueries({ queryKey: objectsKey(bucket) });
    before.current = running;
  }, [running, bucket, client]);
  if (jobs.length === 0) return null;
  return (
    <section
      aria-label="Jobs on folders"
      className="shrink-0 border-line border-t bg-surface px-4 py-2"
    >
      <ul className="grid max-h-40 gap-2 overflow-y-auto">
        {jobs.map((job) => (
          <JobLine key={job.id} job={job} />
        ))}
      </ul>
    </section>
  );
}

function JobLine({ job }: { job: StorageJob }) {
  const client = useQueryClient();
  const cancel = useMutation({
    mutationFn: () => cancelJob(job.id),
    onSettled: () => client.invalidateQueries({ queryKey: jobsQuery.queryKey }),
  });
  const isRunning = job.state === "running";
  return (
    <li className="text-caption">
      <div className="flex items-center gap-2">
        <span className="min-w-0 flex-1 truncate">
          {verbs[job.kind]} <Text>{job.from}</Text>
          {job.to !== null && (
            <>
              {" → "}
              <Text>{job.to}</Text>
            </>
          )}
        </span>
        <span className="text-ink-soft tabular-nums">
          {formatNumber(job.done)}
          {job.total !== null && ` of ${formatNumber(job.total)}`}
        </span>
        {!isRunning && (
          <Badge tone={job.state === "done" && job.failures.length === 0 ? "success" : "warning"}>
            {job.state}
          </Badge>
        )}
        {isRunning && (
          <IconButton
            size="dense"
            label={`Cancel ${job.kind} of ${job.from}`}
            disabled={cancel.isPending}
            onClick={() => cancel.mutate()}
          >
            <X className="size-3.5" />
          </IconButton>
        )}
      </div>
      {isRunning && (
        <ProgressBar
          label={`${verbs[job.kind]} ${job.from}`}
          value={job.total === null ? null : job.done / Math.max(1, job.total)}
        />
      )}
      {job.failures.length > 0 && (
        <details className="mt-1">
          <summary className="text-danger">{job.failures.length} entries failed</summary>
          <ul className="mt-1 max-h-24 overflow-y-auto pl-3 text-label">
            {job.failures.map((failure) => (
              <li key={failure.name}>
                <code className="font-mono">
                  <Text>{failure.name}</Text>
                </code>{" "}
                <Text>{failure.message}</Text>
              </li>
            ))}
          </ul>
        </details>
      )}
    </li>
  );
}
