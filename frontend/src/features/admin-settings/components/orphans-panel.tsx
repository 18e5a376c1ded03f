import { useQuery } from "@tanstack/react-query";
import { Button } from "@ui/button";
import { useState } from "react";
import { ConfirmDialog } from "@/components/admin/confirm-dialog";
import { Progress } from "@/components/ui/progress";
import { Skeleton } from "@/components/ui/skeleton";
import { formatDate } from "@/lib/format";
import { messageOf } from "@/lib/service-error";
import { formatBytes } from "../api/figures";
import { type Orphans, orphansQuery, useRemoveOrphans } from "../api/orphans";
import { SettingsPanel } from "./settings-panel";

/** Files whose names are shown; the others are only counted. */
const listed = 20;

/** Files that no row of the site shows, and the button that deletes them. */
export function OrphansPanel() {
  const { data, isPending, isError, error, refetch } = useQuery(orphansQuery());
  return (
    <SettingsPanel title="Orphaned files">
      {isPending && <Skeleton className="h-16.5 w-full sm:h-5.5" />}
      {isError && data === undefined && (
        <p role="alert" className="flex flex-wrap items-center gap-3 text-danger text-small">
          {`The files could not be listed: ${messageOf(error, "please try again.")}`}
          <Button onClick={() => void refetch()}>Try again</Button>
        </p>
      )}
      {data !== undefined && <OrphanList orphans={data} />}
    </SettingsPanel>
  );
}

function countFiles(count: number): string {
  return count === 1 ? "1 file" : `${count.toLocaleString("en-US")} files`;
}

function OrphanList({ orphans: { files, total, bytes } }: { orphans: Orphans }) {
  const remove = useRemoveOrphans();
  const [isAsking, setAsking] = useState(false);
  const [share, setShare] = useState(0);
  if (total === 0) {
    return (
      <p className="text-ink-soft text-small">
        Every file is shown somewhere. Files younger than a day, and pictures of drafts younger than
        30 days, are not looked at.
      </p>
    );
  }
  const chosen = Math.min(total, files.length);
  return (
    <>
      <div className="flex flex-wrap items-center justify-between gap-3">
        <p className="text-small">
          {countFiles(total)}, {formatBytes(bytes)}: uploaded, but shown by no row.
        </p>
        <Button pending={remove.isPending} onClick={() => setAsking(true)}>
          Remove {countFiles(chosen)}
        </Button>
      </div>
      {remove.isPending && (
        <div className="mt-3">
          <Progress label="Removed files" value={share} />
        </div>
      )}
      <ul aria-label="Orphaned files" className="mt-3 text-caption">
        {files.slice(0, listed).map(({ bucket, path, bytes: size, created_at }) => (
          <li
            key={`${bucket}/${path}`}
            className="flex flex-wrap gap-x-4 border-line border-t py-1.5 text-ink-soft"
          >
            <span className="min-w-0 flex-1 basis-60 text-ink [overflow-wrap:anywhere]">
              {bucket}/{path}
            </span>
            <span className="tabular-nums">{formatBytes(size)}</span>
            <span className="tabular-nums">{formatDate(created_at)}</span>
          </li>
        ))}
      </ul>
      {total > listed && (
        <p className="border-line border-t pt-1.5 text-caption text-ink-soft">
          and {countFiles(total - listed)} more
        </p>
      )}
      {isAsking && (
        <ConfirmDialog
          title={`Remove ${countFiles(chosen)}?`}
          text="They are deleted for good. No page of the site shows them."
          action="Remove"
          onConfirm={() => {
            setAsking(false);
            setShare(0);
            remove.mutate(setShare);
          }}
          onCancel={() => setAsking(false)}
        />
      )}
    </>
  );
}
