/** Storage jobs: the server moves, copies or deletes whole folders. */
import { queryOptions } from "@tanstack/react-query";
import { request } from "@/api/client";
import { formatNumber, plural } from "@/lib/format";
import { lastPartOf, parentOf } from "../object-path";

export type JobKind = "move" | "copy" | "delete";

/** A file, or a folder whose name ends with a slash, and its new name. */
export interface JobStep {
  from: string;
  to?: string;
}

export interface Job {
  id: string;
  kind: JobKind;
  bucket: string;
  target_bucket: string | null;
  first: JobStep | null;
  steps: number;
  state: "waiting" | "running" | "cancelling" | "done" | "cancelled" | "failed";
  account: string | null;
  created_at: string;
  finished_at: string | null;
  /** Total number of files; null until they are counted. */
  total: number | null;
  done: number;
  failed: number;
  error: string | null;
}

export interface JobFailure {
  name: string;
  message: string;
}

export const isActive = ({ state }: Job): boolean =>
  state === "waiting" || state === "running" || state === "cancelling";

/** Polled every second while a job runs, and less often otherwise, because another person or tab may create a job. */
export const jobsQuery = queryOptions({
  queryKey: ["storage", "jobs"],
  queryFn: ({ signal }) => request<{ jobs: Job[] }>("/api/storage/jobs", { signal }),
  refetchInterval: (query) => (query.state.data?.jobs.some(isActive) ? 1000 : 30_000),
});

export const jobQuery = (id: string) =>
  queryOptions({
    queryKey: ["storage", "jobs", id],
    queryFn: ({ signal }) =>
      request<Job & { failures: JobFailure[] }>(`/api/storage/jobs/${id}`, { signal }),
  });

export function createJob(
  kind: JobKind,
  bucket: string,
  targetBucket: string,
  steps: readonly JobStep[],
): Promise<Job> {
  return request("/api/storage/jobs", {
    json: { kind, bucket, target_bucket: targetBucket, steps },
  });
}

/** Cancels a running job, or removes an ended one from the list. */
export function endJob(id: string): Promise<void> {
  return request(`/api/storage/jobs/${id}`, { method: "DELETE" });
}

const words: Record<JobKind, { running: string; ended: string }> = {
  move: { running: "Moving", ended: "Moved" },
  copy: { running: "Copying", ended: "Copied" },
  delete: { running: "Deleting", ended: "Deleted" },
};

/** A job's title, such as `Moving photos/ to archive/`. */
export function titleOfJob(job: Job): string {
  const { first, kind, bucket, target_bucket: target } = job;
  if (first === null) return words[kind].running;
  const isFolder = first.from.endsWith("/");
  const what =
    job.steps === 1
      ? `${lastPartOf(first.from)}${isFolder ? "/" : ""}`
      : plural(job.steps, "entry", "entries");
  const verb = isActive(job) ? words[kind].running : words[kind].ended;
  if (kind === "delete" || first.to === undefined) return `${verb} ${what}`;
  const isRenamed =
    job.steps === 1 &&
    (target === null || target === bucket) &&
    parentOf(first.from) === parentOf(first.to);
  if (isRenamed) {
    const renamed = isActive(job) ? "Renaming" : "Renamed";
    return `${kind === "move" ? renamed : verb} ${what} to ${lastPartOf(first.to)}`;
  }
  const place = `${target !== null && target !== bucket ? `${target}/` : ""}${parentOf(first.to)}`;
  return `${verb} ${what} to ${place === "" ? "the top of the bucket" : place}`;
}

/** A job's progress, such as `1,200 of 3,400 files, 2 failed`. */
export function progressOfJob(job: Job): string {
  const failed = job.failed > 0 ? `, ${job.failed} failed` : "";
  switch (job.state) {
    case "waiting":
      return "Waiting";
    case "running":
    case "cancelling": {
      const total = job.total === null ? "" : ` of ${plural(job.total, "file")}`;
      const step = job.state === "cancelling" ? "Stopping: " : "";
      return `${step}${formatNumber(job.done)}${total}${failed}`;
    }
    case "done":
      return `${plural(job.done, "file")}${failed}`;
    case "cancelled":
      return `Cancelled after ${plural(job.done, "file")}${failed}`;
    case "failed":
      return job.error ?? "Failed";
  }
}
