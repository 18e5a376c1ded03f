import { useMutation, useQueryClient } from "@tanstack/react-query";
import { Button } from "@ui/button";
import { IconButton } from "@ui/icon-button";
import { useIsShown } from "@ui/use-is-shown";
import {
  ChevronRight,
  Ellipsis,
  Eraser,
  FilePlus,
  FolderPlus,
  FolderUp,
  Settings2,
  Trash2,
  Upload,
} from "lucide-react";
import { useRef, useState } from "react";
import { Link } from "react-router";
import { request } from "@/api/client";
import { ConfirmDialog } from "@/components/confirm-dialog";
import { Field } from "@/components/field";
import { Input } from "@/components/input";
import { Menu, MenuItem, MenuSeparator } from "@/components/menu";
import { Text } from "@/components/text";
import { useDraftForm } from "@/lib/forms/use-draft-form";
import { toast } from "@/lib/toast";
import { useSearchState } from "@/lib/use-search-state";
import { type Bucket, bucketsQuery, deleteBucket, emptyBucket, objectsKey } from "./api";
import { BucketDialog } from "./bucket-dialog";
import { filesOfInput } from "./chosen-files";
import { NameDialog } from "./object-dialogs";
import { breadcrumbsOf, encodePath, findNameFault } from "./object-path";
import { placeholderName } from "./object-rows";
import { addFiles } from "./upload-runner";

/** The bucket and the folders that lead to the present one, each a link. */
export function FolderTrail({ bucket, folder }: { bucket: Bucket; folder: string }) {
  const crumbs = [{ name: bucket.name, path: "" }, ...breadcrumbsOf(folder)];
  return (
    <span className="flex min-w-0 items-center gap-1 overflow-hidden">
      {crumbs.map(({ name, path }, index) => (
        <span key={path} className="flex min-w-0 items-center gap-1">
          {index > 0 && (
            <ChevronRight aria-hidden="true" className="size-3.5 shrink-0 text-ink-soft" />
          )}
          {index === crumbs.length - 1 ? (
            <span className="truncate">
              <Text>{name}</Text>
            </span>
          ) : (
            <Link
              to={`?bucket=${encodeURIComponent(bucket.id)}&folder=${encodeURIComponent(path)}`}
              className="truncate text-ink-soft hover:text-ink"
            >
              <Text>{name}</Text>
            </Link>
          )}
        </span>
      ))}
    </span>
  );
}

interface BucketActionsProps {
  bucket: Bucket;
  folder: string;
  refusal: string | undefined;
}

type OpenDialog = "settings" | "folder" | "empty" | "delete" | null;

/** Upload, new folder, and what can be done with the bucket. */
export function BucketActions({ bucket, folder, refusal }: BucketActionsProps) {
  const [dialog, setDialog] = useState<OpenDialog>(null);
  const files = useRef<HTMLInputElement>(null);
  const folders = useRef<HTMLInputElement>(null);
  const close = () => setDialog(null);
  const take = (input: HTMLInputElement) => {
    void addFiles(bucket.id, folder, filesOfInput(input.files));
    // Lets the same file be chosen again.
    input.value = "";
  };
  return (
    <>
      <input
        ref={files}
        type="file"
        multiple
        aria-label="Files to upload"
        className="sr-only"
        tabIndex={-1}
        onChange={(event) => take(event.target)}
      />
      <input
        ref={(element) => {
          folders.current = element;
          element?.setAttribute("webkitdirectory", "");
        }}
        type="file"
        multiple
        aria-label="Folder to upload"
        className="sr-only"
        tabIndex={-1}
        onChange={(event) => take(event.target)}
      />
      <Menu
        label="Upload"
        trigger={
          <Button size="dense" variant="primary" disabled={refusal !== undefined} title={refusal}>
            <Upload aria-hidden="true" className="size-3.5" />
            Upload
          </Button>
        }
      >
        <MenuItem onSelect={() => files.current?.click()}>
          <FilePlus aria-hidden="true" />
          Files
        </MenuItem>
        <MenuItem onSelect={() => folders.current?.click()}>
          <FolderUp aria-hidden="true" />A whole folder
        </MenuItem>
        <MenuSeparator />
        <MenuItem onSelect={() => setDialog("folder")}>
          <FolderPlus aria-hidden="true" />
          New empty folder
        </MenuItem>
      </Menu>
      <Menu
        label="Bucket"
        trigger={
          <IconButton size="dense" label="More for this bucket">
            <Ellipsis className="size-4" />
          </IconButton>
        }
      >
        <MenuItem disabled={refusal !== undefined} onSelect={() => setDialog("settings")}>
          <Settings2 aria-hidden="true" />
          Settings
        </MenuItem>
        <MenuItem danger disabled={refusal !== undefined} onSelect={() => setDialog("empty")}>
          <Eraser aria-hidden="true" />
          Empty bucket
        </MenuItem>
        <MenuItem danger disabled={refusal !== undefined} onSelect={() => setDialog("delete")}>
          <Trash2 aria-hidden="true" />
          Delete bucket
        </MenuItem>
      </Menu>
      {dialog === "settings" && (
        <BucketDialog bucket={bucket} taken={[]} onClose={close} onSaved={close} />
      )}
      {dialog === "folder" && <FolderDialog bucket={bucket} folder={folder} onClose={close} />}
      {(dialog === "empty" || dialog === "delete") && (
        <DestroyDialog bucket={bucket} kind={dialog} onClose={close} />
      )}
    </>
  );
}

interface FolderDialogProps {
  bucket: Bucket;
  folder: string;
  onClose: () => void;
}

/** Folders are only parts of names, so an empty one is kept by a file without bytes, which lists hide. */
function FolderDialog({ bucket, folder, onClose }: FolderDialogProps) {
  const client = useQueryClient();
  const isShown = useIsShown();
  const [, change] = useSearchState();
  const form = useDraftForm({
    saved: { name: "" },
    isNew: true,
    findProblem: ({ name }) => (name.trim() === "" ? "A name is missing." : findNameFault(name)),
    onSubmit: async ({ name }) => {
      const path = encodePath(`${folder}${name.trim()}/${placeholderName}`);
      await request(`/api/proxy/storage/object/${encodeURIComponent(bucket.id)}/${path}`, {
        method: "POST",
        body: new Blob([]),
        headers: { "content-type": "application/octet-stream", "x-upsert": "true" },
      });
      void client.invalidateQueries({ queryKey: objectsKey(bucket.id) });
      if (!isShown()) return;
      change({ folder: `${folder}${name.trim()}/`, open: null, find: null });
      onClose();
    },
  });
  const { name } = form.draft;
  return (
    <NameDialog
      title="New folder"
      confirmLabel="Create folder"
      isDirty={form.isDirty}
      isReady={form.problem === null}
      pending={form.isSaving}
      error={form.error}
      onSubmit={() => void form.submit()}
      onClose={onClose}
    >
      <Field
        label="Name"
        error={name === "" ? undefined : (form.problem ?? undefined)}
        hint={`It will be made in “${folder || bucket.name}”.`}
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

interface DestroyDialogProps {
  bucket: Bucket;
  kind: "empty" | "delete";
  onClose: () => void;
}

function DestroyDialog({ bucket, kind, onClose }: DestroyDialogProps) {
  const client = useQueryClient();
  const isShown = useIsShown();
  const [, change] = useSearchState();
  const run = useMutation({
    mutationFn: async () => {
      await emptyBucket(bucket.id);
      if (kind === "delete") await deleteBucket(bucket.id);
    },
    onSuccess: async () => {
      toast({ title: kind === "empty" ? "Bucket emptied" : "Bucket deleted", tone: "success" });
      if (isShown()) onClose();
      if (kind === "delete") {
        const nothing = { bucket: null, folder: null, open: null, find: null };
        change(nothing, { where: { bucket: bucket.id } });
      }
      await client.invalidateQueries({ queryKey: bucketsQuery.queryKey });
      await client.invalidateQueries({ queryKey: objectsKey(bucket.id) });
    },
  });
  return (
    <ConfirmDialog
      title={kind === "empty" ? `Empty ${bucket.name}?` : `Delete ${bucket.name}?`}
      text={
        kind === "empty"
          ? "Every file in it is deleted, in all folders. It cannot be undone."
          : "The bucket and every file in it are deleted, and addresses that lead there stop working. It cannot be undone."
      }
      typedName={bucket.name}
      confirmLabel={kind === "empty" ? "Empty bucket" : "Delete bucket"}
      pending={run.isPending}
      error={run.error}
      onConfirm={() => run.mutate()}
      onClose={onClose}
    />
  );
}
