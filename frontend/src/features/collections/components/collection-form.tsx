import { Button } from "@ui/button";
import { Field } from "@ui/field";
import { type FormEvent, useState } from "react";
import { Input } from "@/components/ui/input";
import { maxNameLength } from "../api/collections";

interface CollectionFormProps {
  /** The present name; empty for a new collection. */
  name: string;
  action: string;
  pending: boolean;
  onSubmit: (name: string) => void;
}

/** The name of a new collection, or another one of an existing. */
export function CollectionForm({ name, action, pending, onSubmit }: CollectionFormProps) {
  const [typed, setTyped] = useState(name);
  const [isChecked, setChecked] = useState(false);
  const wanted = typed.trim();
  const error =
    wanted === ""
      ? "Please type a name."
      : [...wanted].length > maxNameLength
        ? `A name has at most ${maxNameLength} letters.`
        : undefined;

  function submit(event: FormEvent) {
    event.preventDefault();
    // React passes the event on to a form of the page around this window, which would be submitted, too.
    event.stopPropagation();
    setChecked(true);
    if (error === undefined) onSubmit(wanted);
  }

  return (
    <form noValidate onSubmit={submit}>
      <Field label="Name of the collection" error={isChecked ? error : undefined}>
        {(attributes) => (
          <Input
            {...attributes}
            value={typed}
            autoComplete="off"
            readOnly={pending}
            onChange={(event) => setTyped(event.target.value)}
          />
        )}
      </Field>
      <Button type="submit" variant="primary" pending={pending} className="mt-3">
        {action}
      </Button>
    </form>
  );
}
