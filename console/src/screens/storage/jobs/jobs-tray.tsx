import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Button } from "@ui/button";
import { IconButton } from "@ui/icon-button";
import { Check, CircleAlert, Loader, X } from "lucide-react";
import { useEffect, useRef, useState } from "react";
import { ErrorNotice } from "@/components/error-state";
import { ProgressBar } from "@/components/progress-bar";
import { Text } from "@/components/text";
import { toast } from "@/lib/toast";
import { objectsKey } from "../api";
import { JobFailures } from "./job-failures";
import { endJob, isActive, type Job, jobsQuery, progressOfJob, titleOfJob } from "./jobs-api";

/** The bucket's jobs, shown below the list of files until they are removed from the list. */
export function JobsTray({ bucket, refusal }: { bucket: string; refusal: string | undefined }) {
  const { data, error, refetch } = useQuery(jobsQuery);
  const [shown, setShown] = useState<Job | null>(null);
  const jobs = (data?.jobs ?? []).filter(
    (job) => job.bucket === bucket || job.target_bucket === bucket,
  );
  useReloadAfterJobs(data === undefined ? undefined : jobs);
  if (error !== null && data === undefined) {
    return (
      <div className="border-line border-t p-3">
        <ErrorNotice
          title="The jobs could not be read"
          error={error}
          onRetry={() => void refetch()}
        />
      </div>
    );
  }
  if (jobs.length === 0) return null;
  return (
    <section aria-label="Jobs" className="shrink-0 border-line border-t bg-surface">
      <ul
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling area must be reachable by keyboard.
        tabIndex={0}
        aria-label="Jobs on folders"
        className="max-h-40 overflow-y-auto py-1 pr-1.5 pl-4"
      >
        {jobs.map((job) => (
          <JobLine key={job.id} job={job} refusal={refusal} onShow={() => setShown(job)} />
        ))}
      </ul>
      {shown !== null && <JobFailures job={shown} onClose={() => setShown(null)} />}
    </section>
  );
}

interface JobLineProps {
  job: Job;
  refusal: string | undefined;
  onShow: () => void;
}

function JobLine({ job, refusal, onShow }: JobLineProps) {
  const client = useQueryClient();
  const end = useMutation({
    mutationFn: () => endJob(job.id),
    onError: (error) =>
      toast({ title: "The job was not ended", description: error.message, tone: "danger" }),
    onSettled: () => client.invalidateQueries({ queryKey: jobsQuery.queryKey }),
  });
  const runs = isActive(job);
  const title = titleOfJob(job);
  const label = runs ? `Cancel: ${title}` : `Take off the list: ${title}`;
  const dealtWith = job.done + job.failed;
  return (
    <li className="flex items-center gap-2.5 py-1 text-caption">
      <StateIcon job={job} />
      <div className="min-w-0 flex-1">
        <div className="flex flex-wrap items-baseline gap-x-3">
          {/* Where both do not fit, the progress has a line of its own. */}
          <span className="min-w-0 grow basis-56 truncate" title={title}>
            <Text>{title}</Text>
          </span>
          <span role="status" className="shrink-0 text-ink-soft text-label tabular-nums">
            <Text>{progressOfJob(job)}</Text>
          </span>
        </div>
        {runs && (
          <ProgressBar
            label={title}
            value={job.total === null ? null : dealtWith / Math.max(1, job.total)}
          />
        )}
      </div>
      {job.failed > 0 && (
        <Button size="dense" variant="quiet" onClick={onShow}>
          Show failures
        </Button>
      )}
      <IconButton
        size="dense"
        label={refusal ?? label}
        disabled={refusal !== undefined || job.state === "cancelling"}
        busy={end.isPending}
        onClick={() => end.mutate()}
      >
        <X className="size-3.5" />
      </IconButton>
    </li>
  );
}

function StateIcon({ job }: { job: Job }) {
  if (isActive(job)) {
    return (
      <Loader
        aria-hidden="true"
        className="size-3.5 shrink-0 text-ink-soft motion-safe:animate-spin"
      />
    );
  }
  if (job.state === "done" && job.failed === 0) {
    return <Check aria-hidden="true" className="size-3.5 shrink-0 text-success" />;
  }
  return <CircleAlert aria-hidden="true" className="size-3.5 shrink-0 text-warning" />;
}

/** Reloads the lists of files when a job ends, also one that nobody has seen running, and after every thousand files. */
function useReloadAfterJobs(jobs: readonly Job[] | undefined): void {
  const client = useQueryClient();
  const seen = useRef<Map<string, string> | null>(null);
  useEffect(() => {
    if (jobs === undefined) return;
    // What had ended before this screen was opened is in its lists.
    const isFirst = seen.current === null;
    const marks = seen.current ?? new Map<string, string>();
    seen.current = marks;
    for (const job of jobs) {
      const mark = isActive(job) ? `${Math.floor((job.done + job.failed) / 1000)}` : job.state;
      const before = marks.get(job.id);
      marks.set(job.id, mark);
      if (before === mark || (before === undefined && (isFirst || isActive(job)))) continue;
      for (const bucket of new Set([job.bucket, job.target_bucket ?? job.bucket])) {
        void client.invalidateQueries({ queryKey: objectsKey(bucket) });
      }
    }
  }, [jobs, client]);
}
