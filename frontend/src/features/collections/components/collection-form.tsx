import { Button } from "@ui/button";
import { Field } from "@ui/field";
import { type FormEvent, useState } from "react";
import { Input } from "@/components/ui/input";
import { longestName } from "../api/collections";

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
      : [...wanted].length > longestName
        ? `A name has at most ${longestName} letters.`
        : undefined;

  function submit(event: FormEvent) {
    event.preventDefault();
    // In a window over a page with a form of its own, that one would be submitted, too.
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
