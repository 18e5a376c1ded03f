import { useQuery } from "@tanstack/react-query";
import { Button } from "@ui/button";
import { CopyButton } from "@/components/copy-button";
import { Dialog } from "@/components/dialog";
import { ErrorNotice } from "@/components/error-state";
import { SkeletonRows } from "@/components/skeleton";
import { StaleNotice } from "@/components/stale-notice";
import { Text } from "@/components/text";
import { formatNumber } from "@/lib/format";
import { type Job, jobQuery, titleOfJob } from "./jobs-api";

/** The files that a job failed to move, copy or delete, each with the storage service's reason. They are unchanged. */
export function JobFailures({ job, onClose }: { job: Job; onClose: () => void }) {
  const read = useQuery(jobQuery(job.id));
  const { data } = read;
  const failures = data?.failures ?? [];
  const text = failures.map(({ name, message }) => `${name}\t${message}`).join("\n");
  return (
    <Dialog
      title={<Text>{titleOfJob(job)}</Text>}
      description="These files were left as they were. Mend the reason and begin the job again for the rest."
      width="wide"
      onClose={onClose}
      footer={
        <>
          {failures.length > 0 && <CopyButton wide text={text} label="Copy the list" />}
          <Button size="dense" onClick={onClose}>
            Close
          </Button>
        </>
      }
    >
      <StaleNotice query={read} />
      {read.isLoadingError ? (
        <ErrorNotice
          title="The failures could not be read"
          error={read.error}
          onRetry={() => void read.refetch()}
        />
      ) : data === undefined ? (
        <SkeletonRows rows={4} />
      ) : (
        <>
          {data.failed > failures.length && (
            <p className="mb-2 text-caption text-ink-soft">
              The first {formatNumber(failures.length)} of {formatNumber(data.failed)} failures.
            </p>
          )}
          <table className="w-full text-left text-caption">
            <thead>
              <tr className="border-line border-b text-ink-soft">
                <th className="py-1.5 pr-3 font-medium">File</th>
                <th className="py-1.5 font-medium">Reason</th>
              </tr>
            </thead>
            <tbody className="divide-y divide-line-soft">
              {failures.map(({ name, message }) => (
                <tr key={name}>
                  <td className="break-all py-1.5 pr-3 font-mono text-label">
                    <Text>{name}</Text>
                  </td>
                  <td className="py-1.5">
                    <Text>{message}</Text>
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </>
      )}
    </Dialog>
  );
}
