/**
 * Saves a tab to the snippet that it was opened from. A snippet is a file that an editor or another person may have changed since;
 * that is asked about before it is replaced.
 */
import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import { toast } from "@/lib/toast";
import { addDocument, changeDocument, hashText, type SqlDocument } from "./documents";
import { isOvertaken, readPresent, useSaveSnippet } from "./snippets";

/** A snippet that was changed or deleted elsewhere. */
interface Overtaken {
  name: string;
  /** Its text as it is now; null where it is gone. */
  theirs: string | null;
  /** Names what may be saved over once that is agreed to: the digest of that text, or null where the snippet is gone. */
  digest: string | null | undefined;
}

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
  /** Saves over the text that was read last from here, or over what `agreed` names: a digest, or null for a snippet that is gone. */
  async function replaceKnown(name: string, agreed: string | null | undefined): Promise<void> {
    const present = await readPresent(name);
    if (present === null) {
      // Somebody has deleted it, and may have had a reason.
      if (agreed === null) await write(name, null);
      else setOvertaken({ name, theirs: null, digest: null });
      return;
    }
    const theirs = present.text ?? "";
    const isKnown =
      base === undefined ||
      hashText(theirs) === base ||
      theirs === text ||
      (typeof agreed === "string" && present.digest === agreed);
    if (isKnown) await write(name, present.digest);
    else setOvertaken({ name, theirs, digest: present.digest });
  }
  const attempt = useMutation({
    mutationFn: async (agreed: string | null | undefined) => {
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
    /** Replaces the text that was asked about, and no newer one; makes the snippet again where it was gone. */
    replace: () => attempt.mutate(overtaken?.digest),
    /** Opens the present text of the snippet in another tab, and returns that one's id. */
    openTheirs(): string | null {
      if (overtaken === null || overtaken.theirs === null) return null;
      setOvertaken(null);
      return addDocument(overtaken.theirs, `${overtaken.name} (saved)`);
    },
    dismiss: () => setOvertaken(null),
  };
}
