import { useState } from "react";
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
