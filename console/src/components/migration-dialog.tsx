/**
 * Every change of the schema ends here: its SQL, the locks it takes, what depends on it, and then a migration file that
 * is run at once (CONSOLE-071, 072).
 */
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Button } from "@ui/button";
import { FileCode2, Lock, TriangleAlert } from "lucide-react";
import { type ReactNode, useDeferredValue, useState } from "react";
import { ApiError } from "@/api/error";
import {
  type MigrationPreview,
  migrationPreviewQuery,
  nameMigration,
  refreshSchema,
  runMigration,
} from "@/api/migrations";
import { useSession, whyNoSchemaChanges } from "@/api/session";
import { CopyButton } from "@/components/copy-button";
import { Dialog } from "@/components/dialog";
import { ErrorNotice } from "@/components/error-state";
import { Field } from "@/components/field";
import { Input } from "@/components/input";
import { SkeletonRows } from "@/components/skeleton";
import { SqlEditor } from "@/components/sql-editor/sql-editor";
import { Text } from "@/components/text";
import { plural } from "@/lib/format";
import { findDangers } from "@/lib/sql/dangers";
import { toast } from "@/lib/toast";

interface MigrationDialogProps {
  /** What the change does; the file is named after it. */
  title: string;
  sql: string;
  onClose: () => void;
  onDone?: () => void;
}

export function MigrationDialog({ title, sql, onClose, onDone }: MigrationDialogProps) {
  const [text, setText] = useState(sql);
  const [name, setName] = useState(() => nameMigration(title));
  const [typed, setTyped] = useState("");
  const client = useQueryClient();
  const reason = whyNoSchemaChanges(useSession());
  const trimmed = useDeferredValue(text.trim());
  const preview = useQuery({
    ...migrationPreviewQuery(trimmed),
    enabled: trimmed !== "" && reason === undefined,
  });
  // What drops or empties something asks for its name, because a migration has no undo.
  const destroyed = findDangers(text).find(({ kind }) => kind !== "update_all")?.target;
  const run = useMutation({
    mutationFn: () => runMigration(nameMigration(name) || "change", text.trim()),
    onSuccess: async ({ file }) => {
      await refreshSchema(client);
      toast({ title: "Schema changed", description: file, tone: "success" });
      onDone?.();
      onClose();
    },
  });
  // A server without this endpoint writes no files; the SQL then goes into one by hand.
  const isByHand = preview.error instanceof ApiError && preview.error.status === 404;
  const isReady =
    reason === undefined &&
    text.trim() !== "" &&
    preview.data !== undefined &&
    (destroyed === undefined || typed === destroyed);
  return (
    <Dialog
      title={title}
      description={
        isByHand
          ? "Put this SQL into a new file of migrations/ and run selvedge migrate up."
          : "The change becomes a migration file and is run with its history row."
      }
      width="wide"
      onClose={onClose}
      footer={
        <>
          {reason !== undefined && (
            <p className="mr-auto self-center text-caption text-warning">{reason}</p>
          )}
          <Button size="dense" onClick={onClose}>
            Cancel
          </Button>
          {isByHand ? (
            <CopyButton wide text={text} label="Copy SQL" />
          ) : (
            <Button
              size="dense"
              variant="primary"
              disabled={!isReady}
              pending={run.isPending}
              title={reason}
              onClick={() => run.mutate()}
            >
              <FileCode2 aria-hidden="true" className="size-3.5" />
              Write migration and run
            </Button>
          )}
        </>
      }
    >
      <div className="grid gap-5 md:grid-cols-[minmax(0,1fr)_17rem]">
        <div className="min-w-0 space-y-4">
          <SqlEditor
            field
            label="SQL of the change"
            value={text}
            onChange={setText}
            className="[&_.cm-scroller]:max-h-96 [&_.cm-scroller]:min-h-40"
          />
          <Field label="Name of the migration" hint={`migrations/<UTC>_${nameMigration(name)}.sql`}>
            {(attributes) => (
              <Input
                {...attributes}
                mono
                value={name}
                onChange={(event) => setName(event.target.value)}
              />
            )}
          </Field>
          {destroyed !== undefined && !isByHand && (
            <Field
              label={`Type ${destroyed} to confirm`}
              hint="Its data is gone afterwards, unless there is a backup."
            >
              {(attributes) => (
                <Input
                  {...attributes}
                  mono
                  value={typed}
                  onChange={(event) => setTyped(event.target.value)}
                />
              )}
            </Field>
          )}
          {run.error !== null && (
            <ErrorNotice
              title="The schema was not changed"
              error={run.error}
              safe="The change and its file are made together or not at all."
            />
          )}
        </div>
        <section aria-label="What it does" aria-live="polite">
          {reason !== undefined ? (
            <p className="text-caption text-ink-soft">
              Effects are shown where changes are allowed.
            </p>
          ) : isByHand ? (
            <p className="text-caption text-ink-soft">
              Files are kept in the project's folder migrations/, named &lt;UTC&gt;_
              {nameMigration(name)}.sql.
            </p>
          ) : preview.error !== null ? (
            <ErrorNotice title="PostgreSQL refuses this" error={preview.error} />
          ) : preview.data === undefined ? (
            <SkeletonRows rows={5} label="Looking what it would do" />
          ) : (
            <Effects preview={preview.data} />
          )}
        </section>
      </div>
    </Dialog>
  );
}

function Effects({ preview }: { preview: MigrationPreview }) {
  return (
    <dl className="space-y-3 text-caption">
      <Effect name="Locks">
        {preview.locks.length === 0 ? (
          <p>None that others would notice.</p>
        ) : (
          <ul className="space-y-1">
            {preview.locks.map((lock) => {
              const { relation, mode, blocks } =
                typeof lock === "string" ? { relation: lock, mode: "", blocks: "" } : lock;
              return (
                <li key={`${relation} ${mode}`} className="flex gap-1.5">
                  <Lock aria-hidden="true" className="mt-0.5 size-3.5 shrink-0 text-ink-soft" />
                  <span className="min-w-0 break-words">
                    <Text>{relation}</Text>
                    {mode !== "" && (
                      <span className="block text-ink-soft text-label">
                        {mode}
                        {blocks ? `: ${blocks}` : ""}
                      </span>
                    )}
                  </span>
                </li>
              );
            })}
          </ul>
        )}
        <p className="mt-1 text-ink-soft text-label">It waits for locks 4 s at most.</p>
      </Effect>
      <Effect name="Rewrite">
        {preview.rewrites ? (
          <p className="flex gap-1.5 text-warning">
            <TriangleAlert aria-hidden="true" className="mt-0.5 size-3.5 shrink-0" />
            The table is written anew{preview.rows ? `: ${plural(preview.rows, "row")}` : ""}.
          </p>
        ) : (
          <p>
            No table is rewritten
            {preview.rows ? `, ${plural(preview.rows, "row")} are checked` : ""}.
          </p>
        )}
      </Effect>
      <Effect name="Dependants">
        {preview.dependants.length === 0 ? (
          <p>Nothing depends on it.</p>
        ) : (
          <ul>
            {preview.dependants.map(({ kind, name }) => (
              <li key={`${kind} ${name}`} className="break-words">
                <span className="text-ink-soft">{kind}</span> <Text>{name}</Text>
              </li>
            ))}
          </ul>
        )}
      </Effect>
      {(preview.notes ?? []).map((note) => (
        <p key={note} className="rounded-sm bg-changed px-2 py-1.5">
          <Text>{note}</Text>
        </p>
      ))}
    </dl>
  );
}

function Effect({ name, children }: { name: string; children: ReactNode }) {
  return (
    <div>
      <dt className="mb-0.5 text-ink-soft text-label">{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}
