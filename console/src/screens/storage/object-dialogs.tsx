import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Button } from "@ui/button";
import { SavingFields } from "@ui/saving-fields";
import { useIsShown } from "@ui/use-is-shown";
import type { FormEvent } from "react";
import { useCatalog } from "@/api/catalog";
import { ConfirmDialog } from "@/components/confirm-dialog";
import { Dialog } from "@/components/dialog";
import { ErrorNotice } from "@/components/error-state";
import { Field } from "@/components/field";
import { Input, Select } from "@/components/input";
import { Text } from "@/components/text";
import { plural } from "@/lib/format";
import { useDraftForm } from "@/lib/forms/use-draft-form";
import {
  bucketsQuery,
  copyObject,
  countBelow,
  deletedAtOnce,
  deleteObjects,
  moveObject,
  objectInfosKey,
  objectsKey,
} from "./api";
import { createJob, jobsQuery } from "./jobs/jobs-api";
import { findNameFault, lastPartOf, parentOf, parseFolder } from "./object-path";

/** An action on files and folders. Names of folders end with a slash. */
export interface ObjectAction {
  kind: "rename" | "move" | "copy" | "delete";
  bucket: string;
  names: string[];
}

interface ObjectDialogProps {
  action: ObjectAction;
  onClose: () => void;
  onDone: () => void;
}

export function ObjectDialog(props: ObjectDialogProps) {
  if (props.action.kind === "delete") return <DeleteDialog {...props} />;
  return props.action.kind === "rename" ? <RenameDialog {...props} /> : <TargetDialog {...props} />;
}

/** Runs an action and has the bucket's lists loaded anew. */
function useAction(onDone: () => void, bucket: string) {
  const client = useQueryClient();
  const isShown = useIsShown();
  return useMutation({
    mutationFn: (act: () => Promise<unknown>) => act(),
    onSuccess: () => {
      if (isShown()) onDone();
      // A panel that was left open is about what may be gone now.
      else void client.invalidateQueries({ queryKey: objectInfosKey(bucket) });
    },
    onSettled: () =>
      Promise.all([
        client.invalidateQueries({ queryKey: objectsKey(bucket) }),
        client.invalidateQueries({ queryKey: jobsQuery.queryKey }),
      ]),
  });
}

const isFolder = (name: string): boolean => name.endsWith("/");

function DeleteDialog({ action, onClose, onDone }: ObjectDialogProps) {
  const { bucket, names } = action;
  const folders = names.filter(isFolder);
  const files = names.filter((name) => !isFolder(name));
  const run = useAction(onDone, bucket);
  const only = names.length === 1 ? names[0] : undefined;
  // A request deletes at most a thousand files. More files, and folders, are deleted by a storage job.
  const isJob = folders.length > 0 || files.length > deletedAtOnce;
  const act = () =>
    isJob
      ? createJob(
          "delete",
          bucket,
          bucket,
          names.map((from) => ({ from })),
        )
      : deleteObjects(bucket, files);
  return (
    <ConfirmDialog
      title={only === undefined ? `Delete ${names.length} entries?` : `Delete ${lastPartOf(only)}?`}
      text={
        <>
          {files.length > 0 && `${plural(files.length, "file")} will be deleted. `}
          {folders.length > 0 &&
            `${plural(folders.length, "folder")} will be deleted with everything inside. `}
          It cannot be undone, and addresses that lead there stop working.
        </>
      }
      typedName={only === undefined ? bucket : lastPartOf(only)}
      confirmLabel="Delete"
      pending={run.isPending}
      error={run.error}
      onConfirm={() => run.mutate(act)}
      onClose={onClose}
    >
      {folders.length > 0 && <FilesInside bucket={bucket} folders={folders} />}
    </ConfirmDialog>
  );
}

/** The number of files in the folders. */
function FilesInside({ bucket, folders }: { bucket: string; folders: readonly string[] }) {
  const table = useCatalog()?.tables.find(
    ({ schema, name }) => schema === "storage" && name === "objects",
  );
  const { data } = useQuery({
    queryKey: [...objectsKey(bucket), "below", folders],
    queryFn: ({ signal }) => countBelow(table?.oid ?? "", bucket, folders, signal),
    enabled: table !== undefined,
  });
  return (
    <p role="status" className="text-caption">
      {data === undefined ? "Counting the files inside…" : `Inside: ${plural(data, "file")}.`}
    </p>
  );
}

function RenameDialog({ action, onClose, onDone }: ObjectDialogProps) {
  const { bucket } = action;
  const from = action.names[0] ?? "";
  const run = useAction(onDone, bucket);
  const form = useDraftForm({
    saved: { name: lastPartOf(from) },
    isNew: false,
    findProblem: ({ name }) =>
      name.includes("/") ? "To change the folder, use Move." : findNameFault(name),
    onSubmit: async ({ name }) => {
      const to = `${parentOf(from)}${name.trim()}${isFolder(from) ? "/" : ""}`;
      await run.mutateAsync(() =>
        isFolder(from)
          ? createJob("move", bucket, bucket, [{ from, to }])
          : moveObject(bucket, from, to, bucket),
      );
    },
  });
  const { name } = form.draft;
  return (
    <NameDialog
      title={`Rename ${lastPartOf(from)}`}
      confirmLabel="Rename"
      isDirty={form.isDirty}
      isReady={form.problem === null && name.trim() !== lastPartOf(from)}
      pending={form.isSaving}
      error={form.error}
      onSubmit={() => void form.submit()}
      onClose={onClose}
    >
      <Field
        label="New name"
        error={form.problem ?? undefined}
        hint={
          isFolder(from)
            ? "Each file inside gets its new name; addresses of the old names stop working."
            : "Addresses of the old name stop working."
        }
      >
        {(attributes) => (
          <Input
            {...attributes}
            mono
            autoFocus
            value={name}
            onChange={(event) => form.change({ name: event.target.value })}
          />
        )}
      </Field>
    </NameDialog>
  );
}

function TargetDialog({ action, onClose, onDone }: ObjectDialogProps) {
  const { bucket, names } = action;
  const kind = action.kind === "copy" ? "copy" : "move";
  const buckets = useQuery(bucketsQuery);
  const present = parentOf(names[0] ?? "");
  const run = useAction(onDone, bucket);
  const form = useDraftForm({
    saved: { folder: present, target: bucket },
    // A copy of what lies in several folders may go into the one that is proposed.
    isNew: true,
    findProblem: ({ folder, target }) =>
      findTargetFault(names, parseFolder(folder), kind, target === bucket),
    onSubmit: async (draft) => {
      await run.mutateAsync(() => act(draft));
    },
  });
  const { folder, target } = form.draft;
  function act({ folder, target }: typeof form.draft): Promise<unknown> {
    const goal = parseFolder(folder);
    const steps = names.map((from) => ({
      from,
      to: `${goal}${lastPartOf(from)}${isFolder(from) ? "/" : ""}`,
    }));
    const [only, ...others] = steps;
    if (only === undefined || others.length > 0 || isFolder(only.from)) {
      return createJob(kind, bucket, target, steps);
    }
    const send = kind === "move" ? moveObject : copyObject;
    return send(bucket, only.from, only.to, target);
  }
  const verb = kind === "move" ? "Move" : "Copy";
  return (
    <NameDialog
      title={`${verb} ${names.length === 1 ? lastPartOf(names[0] ?? "") : `${names.length} entries`}`}
      confirmLabel={verb}
      isDirty={form.isDirty}
      isReady={form.problem === null}
      pending={form.isSaving}
      error={form.error}
      onSubmit={() => void form.submit()}
      onClose={onClose}
    >
      <Field label="To bucket">
        {(attributes) => (
          <Select
            {...attributes}
            value={target}
            onChange={(event) => form.change({ target: event.target.value })}
          >
            {(buckets.data ?? []).map(({ id, name }) => (
              <option key={id} value={id}>
                {name}
              </option>
            ))}
          </Select>
        )}
      </Field>
      <Field
        label="To folder"
        // Nothing is wrong before another folder has been named.
        error={form.isDirty ? (form.problem ?? undefined) : undefined}
        hint="Empty: the top of the bucket. A file whose name is taken there stays where it is."
      >
        {(attributes) => (
          <Input
            {...attributes}
            mono
            autoFocus
            placeholder="folder/subfolder"
            value={folder}
            onChange={(event) => form.change({ folder: event.target.value })}
          />
        )}
      </Field>
    </NameDialog>
  );
}

function findTargetFault(
  names: readonly string[],
  goal: string,
  kind: "move" | "copy",
  isSameBucket: boolean,
): string | null {
  if (goal !== "") {
    const fault = findNameFault(goal);
    if (fault !== null) return fault;
  }
  if (!isSameBucket) return null;
  const inside = names.find((name) => isFolder(name) && goal.startsWith(name));
  if (inside !== undefined) return `${lastPartOf(inside)} cannot be put into itself.`;
  if (names.every((name) => parentOf(name) === goal)) {
    return kind === "move"
      ? "They are in this folder already."
      : "Choose another folder; in this one the names are taken.";
  }
  return null;
}

interface NameDialogProps {
  title: string;
  confirmLabel: string;
  isDirty: boolean;
  isReady: boolean;
  pending: boolean;
  error: unknown;
  onSubmit: () => void;
  onClose: () => void;
  children: React.ReactNode;
}

/** A small form in a window with Cancel and one other button. */
export function NameDialog(props: NameDialogProps) {
  function submit(event: FormEvent): void {
    event.preventDefault();
    if (props.isReady && !props.pending) props.onSubmit();
  }
  return (
    <Dialog
      title={<Text>{props.title}</Text>}
      isDirty={props.isDirty}
      onClose={props.onClose}
      footer={
        <>
          <Button size="dense" onClick={props.onClose}>
            Cancel
          </Button>
          <Button
            size="dense"
            variant="primary"
            type="submit"
            form="name-form"
            disabled={!props.isReady}
            pending={props.pending}
          >
            {props.confirmLabel}
          </Button>
        </>
      }
    >
      <form id="name-form" onSubmit={submit}>
        <SavingFields isSaving={props.pending} className="grid gap-4">
          {props.children}
          {props.error !== null && props.error !== undefined && (
            <ErrorNotice title="It was not done" error={props.error} />
          )}
        </SavingFields>
      </form>
    </Dialog>
  );
}
