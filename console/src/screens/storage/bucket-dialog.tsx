import { useMutation, useQueryClient } from "@tanstack/react-query";
import { Button } from "@ui/button";
import { type FormEvent, useState } from "react";
import { Dialog } from "@/components/dialog";
import { ErrorNotice } from "@/components/error-state";
import { Field } from "@/components/field";
import { Checkbox, Input } from "@/components/input";
import { toast } from "@/lib/toast";
import { type Bucket, bucketsQuery, createBucket, updateBucket } from "./api";
import {
  type BucketForm,
  emptyBucketForm,
  findBucketFaults,
  readBucketForm,
  settingsOf,
} from "./bucket-settings";

interface BucketDialogProps {
  /** The bucket to change; without one a new bucket is made. */
  bucket?: Bucket | undefined;
  /** Names of existing buckets. */
  taken: readonly string[];
  onClose: () => void;
  onSaved: (id: string) => void;
}

/** Makes a bucket or changes its settings. */
export function BucketDialog({ bucket, taken, onClose, onSaved }: BucketDialogProps) {
  const client = useQueryClient();
  const [form, setForm] = useState(bucket === undefined ? emptyBucketForm : readBucketForm(bucket));
  const [isChecked, setChecked] = useState(false);
  const faults = findBucketFaults(form, bucket === undefined ? taken : []);
  const shown = isChecked ? faults : {};
  const save = useMutation({
    mutationFn: async () => {
      const name = form.name.trim();
      if (bucket === undefined) await createBucket(name, settingsOf(form));
      else await updateBucket(bucket.id, settingsOf(form));
      await client.invalidateQueries({ queryKey: bucketsQuery.queryKey });
      return bucket?.id ?? name;
    },
    onSuccess: (id) => {
      toast({ title: bucket === undefined ? "Bucket created" : "Bucket saved", tone: "success" });
      onSaved(id);
    },
  });
  const change = (part: Partial<BucketForm>) => setForm({ ...form, ...part });
  function submit(event: FormEvent): void {
    event.preventDefault();
    setChecked(true);
    if (Object.keys(faults).length === 0) save.mutate();
  }
  return (
    <Dialog
      title={bucket === undefined ? "New bucket" : `Settings of ${bucket.name}`}
      onClose={onClose}
      footer={
        <>
          <Button size="dense" onClick={onClose}>
            Cancel
          </Button>
          <Button
            size="dense"
            variant="primary"
            type="submit"
            form="bucket-form"
            pending={save.isPending}
          >
            {bucket === undefined ? "Create bucket" : "Save"}
          </Button>
        </>
      }
    >
      <form id="bucket-form" onSubmit={submit} className="grid gap-4" noValidate>
        {bucket === undefined && (
          <Field
            label="Name"
            error={shown.name}
            hint="It is part of every file's address and stays."
          >
            {(attributes) => (
              <Input
                {...attributes}
                mono
                autoFocus
                value={form.name}
                onChange={(event) => change({ name: event.target.value })}
              />
            )}
          </Field>
        )}
        <label htmlFor="bucket-public" className="flex items-start gap-2.5 text-caption">
          <Checkbox
            id="bucket-public"
            className="mt-0.5"
            checked={form.isPublic}
            onChange={(event) => change({ isPublic: event.target.checked })}
          />
          <span>
            <span className="font-medium">Public</span>
            <span className="block text-ink-soft">
              Whoever knows a file's address can read it. Writing and listing still need policies.
            </span>
          </span>
        </label>
        <Field label="Largest file" error={shown.sizeLimit} hint="Empty: the limit of the project.">
          {(attributes) => (
            <Input
              {...attributes}
              placeholder="5 MB"
              value={form.sizeLimit}
              onChange={(event) => change({ sizeLimit: event.target.value })}
            />
          )}
        </Field>
        <Field label="Types of files" error={shown.types} hint="Separated by commas. Empty: any.">
          {(attributes) => (
            <Input
              {...attributes}
              mono
              placeholder="image/*, application/pdf"
              value={form.types}
              onChange={(event) => change({ types: event.target.value })}
            />
          )}
        </Field>
        {save.isError && <ErrorNotice title="The bucket was not saved" error={save.error} />}
      </form>
    </Dialog>
  );
}
