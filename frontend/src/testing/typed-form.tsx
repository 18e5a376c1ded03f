import { useState } from "react";
import { EditDialog } from "@/components/admin/edit-dialog";
import { KeepTyped } from "@/components/admin/keep-typed";

/** A form that asks before what is typed in it is lost. */
export function TypedForm() {
  const [text, setText] = useState("");
  return (
    <>
      <KeepTyped isDirty={text !== ""} />
      <input aria-label="Name" value={text} onChange={(event) => setText(event.target.value)} />
    </>
  );
}

/** The same in the panel in which the admin area edits its rows. */
export function TypedPanel() {
  const [text, setText] = useState("");
  return (
    <EditDialog title="New brand" isDirty={text !== ""} onClose={() => setText("")}>
      <form>
        <input aria-label="Name" value={text} onChange={(event) => setText(event.target.value)} />
      </form>
    </EditDialog>
  );
}
