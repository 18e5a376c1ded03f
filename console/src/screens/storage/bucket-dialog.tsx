import { useQueryClient } from "@tanstack/react-query";
import { Button } from "@ui/button";
import { SavingFields } from "@ui/saving-fields";
import { useIsShown } from "@ui/use-is-shown";
import * as z from "zod/mini";
import { CollisionNotice } from "@/components/collision-notice";
import { Dialog } from "@/components/dialog";
import { ErrorNotice } from "@/components/error-state";
import { Field } from "@/components/field";
import { Checkbox, Input } from "@/components/input";
import { useEditForm } from "@/lib/forms/use-edit-form";
import { toast } from "@/lib/toast";
import {
  type Bucket,
  type BucketSettings,
  bucketsQuery,
  createBucket,
  readBuckets,
  updateBucket,
} from "./api";
import { findBucketFaults, readBucketForm, settingsOf } from "./bucket-settings";

interface BucketDialogProps {
  /** The bucket to change; without one a new bucket is made. */
  bucket?: Bucket | undefined;
  /** Names of existing buckets. */
  taken: readonly string[];
  onClose: () => void;
  onSaved: (id: string) => void;
}

type BucketState = BucketSettings & { name: string };

/** The rules of the fields, which the list of existing buckets belongs to. */
const schemaOf = (taken: readonly string[]) =>
  z
    .object({ name: z.string(), isPublic: z.boolean(), sizeLimit: z.string(), types: z.string() })
    .check((check) => {
      for (const [field, message] of Object.entries(findBucketFaults(check.value, taken))) {
        check.issues.push({ code: "custom", message, path: [field], input: check.value });
      }
    });

const newBucket: BucketState = {
  name: "",
  public: false,
  file_size_limit: null,
  allowed_mime_types: null,
};

const stateOf = ({ name, ...bucket }: Bucket): BucketState => ({
  name,
  public: bucket.public,
  file_size_limit: bucket.file_size_limit,
  allowed_mime_types: bucket.allowed_mime_types,
});

async function readState(id: string): Promise<BucketState> {
  const bucket = (await readBuckets()).find((one) => one.id === id);
  if (bucket === undefined) throw new Error("This bucket does not exist any more.");
  return stateOf(bucket);
}

/** Makes a bucket or changes its settings. */
export function BucketDialog({ bucket, taken, onClose, onSaved }: BucketDialogProps) {
  const client = useQueryClient();
  const isShown = useIsShown();
  const edit = useEditForm({
    saved: bucket === undefined ? newBucket : stateOf(bucket),
    valuesOf: readBucketForm,
    savedOf: (values): BucketState => ({ name: values.name.trim(), ...settingsOf(values) }),
    schema: schemaOf(bucket === undefined ? taken : []),
    // The service takes all settings at once, so what others have changed meanwhile must be among them.
    ...(bucket !== undefined && { read: () => readState(bucket.id) }),
    write: async ({ values }) => {
      const { name, ...settings } = values;
      if (bucket === undefined) await createBucket(name, settings);
      else await updateBucket(bucket.id, settings);
      return values;
    },
    onSaved: ({ name }) => {
      void client.invalidateQueries({ queryKey: bucketsQuery.queryKey });
      toast({ title: bucket === undefined ? "Bucket created" : "Bucket saved", tone: "success" });
      // Closed meanwhile, it would close the window that is open in its place.
      if (isShown()) onSaved(bucket?.id ?? name);
    },
  });
  const { register } = edit.form;
  return (
    <Dialog
      title={bucket === undefined ? "New bucket" : `Settings of ${bucket.name}`}
      isDirty={edit.isDirty}
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
            pending={edit.isSaving}
          >
            {bucket === undefined ? "Create bucket" : "Save"}
          </Button>
        </>
      }
    >
      <form id="bucket-form" onSubmit={(event) => void edit.submit(event)} noValidate>
        <SavingFields isSaving={edit.isSaving} className="grid gap-4">
          {bucket === undefined && (
            <Field
              label="Name"
              error={edit.errors.name?.message}
              hint="It is part of every file's address and stays."
            >
              {(attributes) => <Input {...attributes} mono autoFocus {...register("name")} />}
            </Field>
          )}
          <label htmlFor="bucket-public" className="flex items-start gap-2.5 text-caption">
            <Checkbox id="bucket-public" className="mt-0.5" {...register("isPublic")} />
            <span>
              <span className="font-medium">Public</span>
              <span className="block text-ink-soft">
                Whoever knows a file's address can read it. Writing and listing still need policies.
              </span>
            </span>
          </label>
          <Field
            label="Largest file"
            error={edit.errors.sizeLimit?.message}
            hint="Empty: the limit of the project."
          >
            {(attributes) => (
              <Input {...attributes} placeholder="5 MB" {...register("sizeLimit")} />
            )}
          </Field>
          <Field
            label="Types of files"
            error={edit.errors.types?.message}
            hint="Separated by commas. Empty: any."
          >
            {(attributes) => (
              <Input
                {...attributes}
                mono
                placeholder="image/*, application/pdf"
                {...register("types")}
              />
            )}
          </Field>
          {edit.collision !== null && (
            <CollisionNotice
              conflicts={edit.collision.conflicts}
              others={edit.collision.others}
              onKeepMine={edit.keepMine}
              onTakeTheirs={edit.takeTheirs}
            />
          )}
          {edit.error !== null && (
            <ErrorNotice title="The bucket was not saved" error={edit.error} />
          )}
        </SavingFields>
      </form>
    </Dialog>
  );
}
