/**
 * Saves a tab to the snippet that it was opened from. A snippet is a file that an editor or another person may have changed since;
 * that is asked about before it is replaced.
 */
import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import { ApiError } from "@/api/error";
import { toast } from "@/lib/toast";
import { addDocument, changeDocument, hashText, type SqlDocument } from "./documents";
import { loadSnippet, type Snippet, useSaveSnippet } from "./snippets";

/** A snippet that was changed elsewhere, with its text as it is now. */
interface Overtaken {
  name: string;
  theirs: string;
  digest: string | undefined;
}

/** A snippet as it is saved now; null where it is gone. */
async function readPresent(name: string): Promise<Snippet | null> {
  try {
    return await loadSnippet(name);
  } catch (error) {
    if (error instanceof ApiError && error.status === 404) return null;
    throw error;
  }
}

const isOvertaken = (error: unknown): boolean =>
  error instanceof ApiError && error.status === 409 && error.code === "conflict";

/** How often a snippet that changes between reading and writing is read again. */
const attempts = 3;

export function useSaveTab({ id, snippet, base }: SqlDocument, text: string) {
  const save = useSaveSnippet();
  const [overtaken, setOvertaken] = useState<Overtaken | null>(null);
  async function write(name: string, over: string | null | undefined): Promise<void> {
    await save.mutateAsync({ name, text, base: over });
    changeDocument(id, { base: hashText(text) });
    setOvertaken(null);
    toast({ title: `${name} saved`, tone: "success" });
  }
  /** Saves over the text that was read last from here, or over the one that `agreed` names. */
  async function replaceKnown(name: string, agreed: string | undefined): Promise<void> {
    const present = await readPresent(name);
    const theirs = present?.text ?? "";
    const isKnown =
      present === null ||
      base === undefined ||
      hashText(theirs) === base ||
      theirs === text ||
      (agreed !== undefined && present.digest === agreed);
    if (isKnown) await write(name, present === null ? null : present.digest);
    else setOvertaken({ name, theirs, digest: present.digest });
  }
  const attempt = useMutation({
    mutationFn: async (agreed: string | undefined) => {
      if (snippet === null) return;
      for (let left = attempts - 1; ; left -= 1) {
        try {
          return await replaceKnown(snippet, agreed);
        } catch (error) {
          // Saved by somebody between reading and writing: what is there now is read, and asked about.
          if (left === 0 || !isOvertaken(error)) throw error;
        }
      }
    },
    onError: (error) =>
      toast({ title: "It was not saved", description: error.message, tone: "danger" }),
  });
  return {
    overtaken,
    isSaving: attempt.isPending,
    save: () => attempt.mutate(undefined),
    /** Replaces the text that was asked about, and no newer one. */
    replace: () => attempt.mutate(overtaken?.digest),
    /** Opens the present text of the snippet in another tab, and returns that one's id. */
    openTheirs(): string | null {
      if (overtaken === null) return null;
      setOvertaken(null);
      return addDocument(overtaken.theirs, `${overtaken.name} (saved)`);
    },
    dismiss: () => setOvertaken(null),
  };
}
