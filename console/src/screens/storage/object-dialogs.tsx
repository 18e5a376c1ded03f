import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Button } from "@ui/button";
import { type FormEvent, useState } from "react";
import { ConfirmDialog } from "@/components/confirm-dialog";
import { Dialog } from "@/components/dialog";
import { ErrorNotice } from "@/components/error-state";
import { Field } from "@/components/field";
import { Input, Select } from "@/components/input";
import { Text } from "@/components/text";
import { plural } from "@/lib/format";
import {
  bucketsQuery,
  copyObject,
  deleteFolder,
  deleteObjects,
  moveObject,
  objectsKey,
} from "./api";
import { findNameFault, lastPartOf, parentOf, parseFolder } from "./object-path";

/** What is to be done, with names of files and of folders, which end with a slash. */
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
  return useMutation({
    mutationFn: (steps: () => Promise<void>) => steps(),
    onSuccess: onDone,
    onSettled: () => client.invalidateQueries({ queryKey: objectsKey(bucket) }),
  });
}

function DeleteDialog({ action, onClose, onDone }: ObjectDialogProps) {
  const { bucket, names } = action;
  const folders = names.filter((name) => name.endsWith("/"));
  const files = names.filter((name) => !name.endsWith("/"));
  const run = useAction(onDone, bucket);
  const only = names.length === 1 ? names[0] : undefined;
  const [deleted, setDeleted] = useState(0);
  async function deleteAll(): Promise<void> {
    for (let start = 0; start < files.length; start += 1000) {
      await deleteObjects(bucket, files.slice(start, start + 1000));
    }
    for (const folder of folders) await deleteFolder(bucket, folder, setDeleted);
  }
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
      onConfirm={() => run.mutate(deleteAll)}
      onClose={onClose}
    >
      {folders.length > 0 && run.isPending && (
        <p role="status" className="text-caption text-ink-soft">
          {plural(deleted, "file")} of the folder deleted so far
        </p>
      )}
    </ConfirmDialog>
  );
}

function RenameDialog({ action, onClose, onDone }: ObjectDialogProps) {
  const from = action.names[0] ?? "";
  const [name, setName] = useState(lastPartOf(from));
  const to = `${parentOf(from)}${name.trim()}`;
  const fault = name.includes("/") ? "To change the folder, use Move." : findNameFault(name);
  const run = useAction(onDone, action.bucket);
  const rename = () => moveObject(action.bucket, from, to, action.bucket);
  return (
    <NameDialog
      title={`Rename ${lastPartOf(from)}`}
      confirmLabel="Rename"
      isReady={fault === null && to !== from}
      pending={run.isPending}
      error={run.error}
      onSubmit={() => run.mutate(rename)}
      onClose={onClose}
    >
      <Field
        label="New name"
        error={fault ?? undefined}
        hint="Addresses of the old name stop working."
      >
        {(attributes) => (
          <Input
            {...attributes}
            mono
            autoFocus
            value={name}
            onChange={(event) => setName(event.target.value)}
          />
        )}
      </Field>
    </NameDialog>
  );
}

function TargetDialog({ action, onClose, onDone }: ObjectDialogProps) {
  const { bucket, names, kind } = action;
  const buckets = useQuery(bucketsQuery);
  const [folder, setFolder] = useState(parentOf(names[0] ?? ""));
  const [target, setTarget] = useState(bucket);
  const run = useAction(onDone, bucket);
  const goal = parseFolder(folder);
  const fault = findTargetFault(names, goal, kind === "move" && target === bucket);
  async function act(): Promise<void> {
    const send = kind === "move" ? moveObject : copyObject;
    for (const from of names) await send(bucket, from, `${goal}${lastPartOf(from)}`, target);
  }
  const verb = kind === "move" ? "Move" : "Copy";
  return (
    <NameDialog
      title={`${verb} ${names.length === 1 ? lastPartOf(names[0] ?? "") : `${names.length} entries`}`}
      confirmLabel={verb}
      isReady={fault === null}
      pending={run.isPending}
      error={run.error}
      onSubmit={() => run.mutate(act)}
      onClose={onClose}
    >
      <Field label="To bucket">
        {(attributes) => (
          <Select
            {...attributes}
            value={target}
            onChange={(event) => setTarget(event.target.value)}
          >
            {(buckets.data ?? []).map(({ id, name }) => (
              <option key={id} value={id}>
                {name}
              </option>
            ))}
          </Select>
        )}
      </Field>
      <Field label="To folder" error={fault ?? undefined} hint="Empty: the top of the bucket.">
        {(attributes) => (
          <Input
            {...attributes}
            mono
            autoFocus
            placeholder="folder/subfolder"
            value={folder}
            onChange={(event) => setFolder(event.target.value)}
          />
        )}
      </Field>
    </NameDialog>
  );
}

function findTargetFault(names: readonly string[], goal: string, isMove: boolean): string | null {
  if (goal !== "") {
    const fault = findNameFault(goal);
    if (fault !== null) return fault;
  }
  const stays = names.every((name) => parentOf(name) === goal);
  return isMove && stays ? "They are in this folder already." : null;
}

interface NameDialogProps {
  title: string;
  confirmLabel: string;
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
      <form id="name-form" onSubmit={submit} className="grid gap-4">
        {props.children}
        {props.error !== null && props.error !== undefined && (
          <ErrorNotice title="It was not done" error={props.error} />
        )}
      </form>
    </Dialog>
  );
}
