/**
 * Runs every change of the schema: shows its SQL, its locks and what depends on it, then writes a migration file and
 * applies it (CONSOLE-071, 072).
 */
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Button } from "@ui/button";
import { SavingEditor, SavingFields } from "@ui/saving-fields";
import { useIsShown } from "@ui/use-is-shown";
import { FileCode2 } from "lucide-react";
import { useState } from "react";
import { ApiError } from "@/api/error";
import {
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
import { MigrationEffects } from "@/components/migration-effects";
import { SkeletonRows } from "@/components/skeleton";
import { LazySqlEditor } from "@/components/sql-editor/lazy-sql-editor";
import { findDangers } from "@/lib/sql/dangers";
import { toast } from "@/lib/toast";
import { useDebounced } from "@/lib/use-debounced";

/** Milliseconds without a keystroke before a text is tried. */
const TYPING_PAUSE = 400;

interface MigrationDialogProps {
  /** The title of the change, from which the file name is made. */
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
  const isShown = useIsShown();
  const session = useSession();
  const reason = whyNoSchemaChanges(session);
  // Without a folder that the server may write to, the SQL goes into a file by hand.
  const isByHand = session.migrations === false;
  const typedSql = text.trim();
  const triedSql = useDebounced(typedSql, TYPING_PAUSE);
  const preview = useQuery({
    ...migrationPreviewQuery(triedSql),
    enabled: triedSql !== "" && reason === undefined && !isByHand,
  });
  // Statements that drop or empty an object require its name to be typed, because a migration cannot be undone.
  const destroyed = findDangers(text).find(({ kind }) => kind !== "update_all")?.target;
  const run = useMutation({
    mutationFn: () => runMigration(nameMigration(name) || "change", typedSql),
    onSuccess: async ({ file }) => {
      await refreshSchema(client);
      toast({ title: "Saved as migration", description: file, tone: "success" });
      if (!isShown()) return;
      onDone?.();
      onClose();
    },
  });
  const isReady =
    reason === undefined &&
    typedSql !== "" &&
    typedSql === triedSql &&
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
      // An editor's paste, and what it deletes, are no events of a field.
      isDirty={text !== sql || name !== nameMigration(title) || typed !== ""}
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
              Save as migration
            </Button>
          )}
        </>
      }
    >
      <div className="grid grid-cols-[minmax(0,1fr)] gap-5 md:grid-cols-[minmax(0,1fr)_17rem]">
        <SavingFields isSaving={run.isPending} className="space-y-4">
          <SavingEditor isSaving={run.isPending}>
            <LazySqlEditor
              field
              label="SQL of the change"
              value={text}
              onChange={setText}
              className="[&_.cm-scroller]:max-h-96 [&_.cm-scroller]:min-h-40"
            />
          </SavingEditor>
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
              label={
                <>
                  Type <code className="font-mono">{destroyed}</code> to confirm
                </>
              }
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
              safe={whatIsSafe(run.error)}
            />
          )}
        </SavingFields>
        <section aria-label="What it does" aria-live="polite">
          {reason !== undefined ? (
            <p className="text-caption text-ink-soft">
              Effects are shown where changes are allowed.
            </p>
          ) : isByHand ? (
            <p className="text-caption text-ink-soft">
              {session.reasons?.migrations ?? "This server does not write migration files."}
            </p>
          ) : preview.error !== null ? (
            <ErrorNotice
              title={describeRefusal(preview.error)}
              error={preview.error}
              safe="It was only tried. Nothing was changed."
              onRetry={() => void preview.refetch()}
            />
          ) : preview.data === undefined ? (
            <SkeletonRows rows={5} label="Looking what it would do" />
          ) : (
            <MigrationEffects preview={preview.data} />
          )}
        </section>
      </div>
    </Dialog>
  );
}

/** Adds the line of the error, if the server reports it. */
function describeRefusal(error: Error): string {
  const body = error instanceof ApiError ? error.body : null;
  const hasLine = typeof body === "object" && body !== null && "line" in body;
  return hasLine ? `Line ${String(body.line)} is refused` : "This is refused";
}

/** A lost connection leaves open whether the change was made; every other failure has undone it. */
function whatIsSafe(error: Error): string {
  const isUnknown = error instanceof ApiError && (error.status === 0 || error.status === 503);
  return isUnknown
    ? "It is not known whether the change was made. If its file is in migrations/, the next start runs it unless it has run."
    : "Neither the change nor its file is there.";
}
