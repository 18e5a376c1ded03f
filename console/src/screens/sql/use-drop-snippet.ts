/**
 * Deletes a snippet as the person has seen it. A snippet is a file that an editor or another person may have changed since; that is
 * asked about before it is deleted.
 */
import { useState } from "react";
import { toast } from "@/lib/toast";
import { hashText, useDocuments } from "./documents";
import {
  isOvertaken,
  readPresent,
  type Snippet,
  useDeleteSnippet,
  useSaveSnippet,
} from "./snippets";

function fail(title: string, error: unknown): void {
  toast({ title, description: error instanceof Error ? error.message : "", tone: "danger" });
}

export function useDropSnippet() {
  const remove = useDeleteSnippet();
  const save = useSaveSnippet();
  const documents = useDocuments();
  /** The snippet as it is now, which differs from what was seen here. */
  const [changed, setChanged] = useState<Snippet | null>(null);

  /** Whether a snippet is as the list or the tab that was opened from it has shown it. */
  function isSeen(listed: Snippet, present: Snippet): boolean {
    const opened = documents.find(({ snippet }) => snippet === listed.name);
    return opened?.base === undefined
      ? present.updated_at === listed.updated_at
      : opened.base === hashText(present.text ?? "");
  }
  function restore(name: string, text: string) {
    // Another one of the same name, saved since, stays.
    const onError = (error: Error) => fail(`${name} was not restored`, error);
    save.mutate({ name, text, base: null }, { onError });
  }
  async function dropAsRead({ name, text = "", digest }: Snippet) {
    await remove.mutateAsync({ name, base: digest });
    setChanged(null);
    toast({
      title: `${name} deleted`,
      durationMs: 600_000,
      action: { label: "Undo", run: () => restore(name, text) },
    });
  }
  async function attempt(name: string, isAgreed: (present: Snippet) => boolean) {
    try {
      const present = await readPresent(name);
      if (present === null) {
        setChanged(null);
        toast({ title: `${name} was deleted already` });
      } else if (isAgreed(present)) await dropAsRead(present);
      else setChanged(present);
    } catch (error) {
      // Saved by somebody between reading and deleting: what is there now is read, and asked about.
      if (isOvertaken(error)) await attempt(name, () => false);
      else fail("The snippet was not deleted", error);
    }
  }
  return {
    changed,
    isDropping: remove.isPending,
    drop: (listed: Snippet) => attempt(listed.name, (present) => isSeen(listed, present)),
    /** Deletes the text that was asked about, and no newer one. */
    dropChanged: () =>
      changed === null
        ? Promise.resolve()
        : attempt(changed.name, ({ digest }) => digest === changed.digest),
    dismiss: () => setChanged(null),
  };
}
