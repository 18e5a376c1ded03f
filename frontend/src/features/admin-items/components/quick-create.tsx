import { Button } from "@ui/button";
import { isEnter, isEscape } from "@ui/keys";
import { Plus } from "lucide-react";
import { type KeyboardEvent, useState } from "react";
import { useUnadded } from "@/components/admin/form-work";
import { Input } from "@/components/ui/input";
import { toast } from "@/lib/toast";
import { useCreateBrand, useCreateColor, useCreateSubcategory } from "../api/quick-create";

interface NameRowProps {
  /** The noun for the created row, such as "brand". */
  noun: string;
  pending: boolean;
  /** Calls `done` when the row is stored; until then the typed name stays. */
  onCreate: (name: string, done: () => void) => void;
}

/** A button that becomes a line to type a name into. Not a form: it is inside of one. */
function NameRow({ noun, pending, onCreate }: NameRowProps) {
  const [name, setName] = useState<string | null>(null);
  useUnadded(name !== null && name.trim() !== "");
  if (name === null) return <AddButton label={`New ${noun}`} onClick={() => setName("")} />;

  function create() {
    if (pending) return;
    const trimmed = name?.trim() ?? "";
    if (trimmed.length < 2) {
      toast("Error", "Name must be at least 2 characters", "danger");
      return;
    }
    onCreate(trimmed, () => setName(null));
  }

  function close() {
    // The row is made in any case, and its answer would take away the next line with what is typed in it by then.
    if (!pending) setName(null);
  }

  return (
    // Escape closes this line and not the form around it (EditDialog).
    <div className="mt-2 flex gap-2" data-own-escape>
      <Input
        aria-label={`Name of the new ${noun}`}
        autoFocus
        value={name}
        // The line goes when the row is there, and what was typed meanwhile would go with it.
        readOnly={pending}
        onChange={(event) => setName(event.target.value)}
        onKeyDown={(event) => handleKey(event, create, close)}
      />
      <Button pending={pending} onClick={create} size="lg">
        Add
      </Button>
      <Button variant="quiet" disabled={pending} onClick={close} size="lg">
        Cancel
      </Button>
    </div>
  );
}

function AddButton({ label, onClick }: { label: string; onClick: () => void }) {
  return (
    <Button variant="quiet" onClick={onClick} className="-ml-3">
      <Plus aria-hidden="true" className="size-4" />
      {label}
    </Button>
  );
}

/** Enter creates the row, and must not submit the form around it; Escape goes back to the button. */
function handleKey(event: KeyboardEvent, create: () => void, close: () => void) {
  if (isEscape(event)) close();
  if (!isEnter(event)) return;
  event.preventDefault();
  create();
}

interface QuickCreateProps {
  onCreated: (id: string) => void;
}

export function QuickBrand({ onCreated }: QuickCreateProps) {
  const { mutate, isPending } = useCreateBrand(onCreated);
  return (
    <NameRow
      noun="brand"
      pending={isPending}
      onCreate={(name, done) => mutate(name, { onSuccess: done })}
    />
  );
}

interface QuickSubcategoryProps {
  categoryId: string;
  /** The category may have been changed while the subcategory was created. */
  onCreated: (id: string, categoryId: string) => void;
}

export function QuickSubcategory({ categoryId, onCreated }: QuickSubcategoryProps) {
  const { mutate, isPending } = useCreateSubcategory((id, { category_id }) =>
    onCreated(id, category_id),
  );
  return (
    <NameRow
      noun="subcategory"
      pending={isPending}
      onCreate={(name, done) => {
        if (categoryId === "") toast("Error", "Please select a category first", "danger");
        else mutate({ name, category_id: categoryId }, { onSuccess: done });
      }}
    />
  );
}

export function QuickColor({ onCreated }: QuickCreateProps) {
  const [draft, setDraft] = useState<{ name: string; hexCode: string } | null>(null);
  const { mutate, isPending } = useCreateColor((id) => {
    setDraft(null);
    onCreated(id);
  });
  useUnadded(draft !== null && draft.name.trim() !== "");
  if (draft === null) {
    return <AddButton label="New color" onClick={() => setDraft({ name: "", hexCode: "#" })} />;
  }

  function close() {
    if (!isPending) setDraft(null);
  }

  function create() {
    if (isPending) return;
    const name = draft?.name.trim() ?? "";
    const hexCode = draft?.hexCode.trim() ?? "";
    if (name === "") {
      toast("Color name required", "Please enter a name for the color.", "danger");
    } else if (!/^#[0-9a-f]{6}$/i.test(hexCode)) {
      const text = "Please enter a valid hex color code (e.g., #FF5733).";
      toast("Invalid color code", text, "danger");
    } else {
      mutate({ name, hex_code: hexCode });
    }
  }

  return (
    <div
      className="mt-2 grid grid-cols-[minmax(0,1fr)_7.5rem] gap-2 sm:grid-cols-[minmax(0,1fr)_7.5rem_auto_auto]"
      data-own-escape
    >
      <Input
        aria-label="Name of the new color"
        autoFocus
        value={draft.name}
        readOnly={isPending}
        onChange={(event) => setDraft({ ...draft, name: event.target.value })}
        onKeyDown={(event) => handleKey(event, create, close)}
      />
      <Input
        aria-label="Hex code of the new color"
        value={draft.hexCode}
        readOnly={isPending}
        onChange={(event) => setDraft({ ...draft, hexCode: event.target.value })}
        onKeyDown={(event) => handleKey(event, create, close)}
      />
      <Button pending={isPending} onClick={create} size="lg">
        Add
      </Button>
      <Button variant="quiet" disabled={isPending} onClick={close} size="lg">
        Cancel
      </Button>
    </div>
  );
}
