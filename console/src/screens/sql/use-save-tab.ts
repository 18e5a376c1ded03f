/**
 * Saves a tab to the snippet that it was opened from. A snippet is a file that an editor or another person may have changed since;
 * that is asked about before it is replaced.
 */
import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import { ApiError } from "@/api/error";
import { toast } from "@/lib/toast";
import { addDocument, changeDocument, hashText, type SqlDocument } from "./documents";
import { loadSnippet, useSaveSnippet } from "./snippets";

/** A snippet that was changed elsewhere, with its text as it is now. */
interface Overtaken {
  name: string;
  theirs: string;
}

/** The text of a snippet as it is saved now; null where it is gone. */
async function readPresent(name: string): Promise<string | null> {
  try {
    return (await loadSnippet(name)).text ?? "";
  } catch (error) {
    if (error instanceof ApiError && error.status === 404) return null;
    throw error;
  }
}

export function useSaveTab({ id, snippet, base }: SqlDocument, text: string) {
  const save = useSaveSnippet();
  const [overtaken, setOvertaken] = useState<Overtaken | null>(null);
  async function write(name: string): Promise<void> {
    await save.mutateAsync({ name, text });
    changeDocument(id, { base: hashText(text) });
    setOvertaken(null);
    toast({ title: `${name} saved`, tone: "success" });
  }
  const attempt = useMutation({
    mutationFn: async (replaces: boolean) => {
      if (snippet === null) return;
      const present = replaces ? null : await readPresent(snippet);
      const isOthers = present !== null && base !== undefined && hashText(present) !== base;
      if (isOthers && present !== text) setOvertaken({ name: snippet, theirs: present });
      else await write(snippet);
    },
    onError: (error) =>
      toast({ title: "It was not saved", description: error.message, tone: "danger" }),
  });
  return {
    overtaken,
    isSaving: attempt.isPending,
    save: () => attempt.mutate(false),
    replace: () => attempt.mutate(true),
    /** Opens the present text of the snippet in another tab, and returns that one's id. */
    openTheirs(): string | null {
      if (overtaken === null) return null;
      setOvertaken(null);
      return addDocument(overtaken.theirs, `${overtaken.name} (saved)`);
    },
    dismiss: () => setOvertaken(null),
  };
}
