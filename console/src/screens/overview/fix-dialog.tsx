import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Button } from "@ui/button";
import { useState } from "react";
import { request } from "@/api/client";
import { CodeBlock } from "@/components/code-block";
import { Dialog } from "@/components/dialog";
import { ErrorNotice } from "@/components/error-state";
import { Facts } from "@/components/facts";
import { Field } from "@/components/field";
import { Input } from "@/components/input";
import { SkeletonRows } from "@/components/skeleton";
import { formatNumber } from "@/lib/format";
import { toast } from "@/lib/toast";
import { advisorsQuery } from "./api";
import { migrationName } from "./findings";

interface Preview {
  locks?: (string | { relation: string; mode: string })[];
  rewrites?: boolean;
  rows?: number | null;
}

interface FixDialogProps {
  /** Name of the finding. */
  name: string;
  sql: string;
  onClose: () => void;
}

/** Shows what a fix locks and rewrites, then writes it as a migration and runs it. */
export function FixDialog({ name, sql, onClose }: FixDialogProps) {
  const client = useQueryClient();
  const [fileName, setFileName] = useState(migrationName(name));
  const body = { name: fileName, sql };
  const preview = useQuery({
    queryKey: ["migration-preview", sql],
    queryFn: ({ signal }) =>
      request<Preview>("/api/migrations", { json: { ...body, preview: true }, signal }),
    retry: false,
    gcTime: 0,
  });
  const run = useMutation({
    mutationFn: () => request<{ file: string }>("/api/migrations", { json: body }),
    onSuccess: async ({ file }) => {
      toast({ title: "The migration ran", description: file, tone: "success" });
      await client.invalidateQueries({ queryKey: advisorsQuery.queryKey });
      onClose();
    },
  });
  return (
    <Dialog
      title="Fix as migration"
      description="The SQL becomes a file of your project's migrations and runs now."
      width="wide"
      onClose={onClose}
      footer={
        <>
          <Button size="dense" onClick={onClose}>
            Cancel
          </Button>
          <Button
            size="dense"
            variant="primary"
            disabled={!preview.isSuccess || fileName === ""}
            pending={run.isPending}
            onClick={() => run.mutate()}
          >
            Run migration
          </Button>
        </>
      }
    >
      <div className="grid gap-4">
        <Field label="Name of the migration">
          {(attributes) => (
            <Input
              {...attributes}
              mono
              value={fileName}
              onChange={(event) => setFileName(event.target.value.replace(/[^A-Za-z0-9_]+/g, "_"))}
            />
          )}
        </Field>
        <CodeBlock label="SQL" code={sql} />
        {preview.isPending && <SkeletonRows rows={3} />}
        {preview.isError && (
          <ErrorNotice title="The fix could not be checked" error={preview.error} />
        )}
        {preview.isSuccess && (
          <Facts
            facts={[
              ["Locks", describeLocks(preview.data.locks)],
              ["Rewrites", preview.data.rewrites === true ? "the whole table" : "nothing"],
              ["Rows", preview.data.rows == null ? null : formatNumber(preview.data.rows)],
            ]}
          />
        )}
        {run.isError && <ErrorNotice title="The migration did not run" error={run.error} />}
      </div>
    </Dialog>
  );
}

function describeLocks(locks: Preview["locks"]): string {
  if (locks === undefined || locks.length === 0) return "none that block others";
  return locks
    .map((lock) => (typeof lock === "string" ? lock : `${lock.relation}: ${lock.mode}`))
    .join("; ");
}
