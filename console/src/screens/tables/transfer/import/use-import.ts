/** The state of an import: the chosen file and its format, the upload, and its result. */
import { useQueryClient } from "@tanstack/react-query";
import { useEffect, useRef, useState } from "react";
import {
  type ImportOptions,
  type ImportResult,
  importFile,
  type RunningImport,
} from "./import-file";
import { type FileForm, guessForm, previewFile, readBeginning } from "./read-file";

export interface ChosenFile {
  file: File;
  beginning: Uint8Array;
  form: FileForm;
}

export type ImportState =
  | { step: "idle" }
  | { step: "running"; sent: number }
  | { step: "done"; result: ImportResult }
  | { step: "failed"; error: unknown };

export function useImport() {
  const [chosen, setChosen] = useState<ChosenFile | null>(null);
  const [readError, setReadError] = useState<string | null>(null);
  const [state, setState] = useState<ImportState>({ step: "idle" });
  const running = useRef<RunningImport | null>(null);
  const client = useQueryClient();
  useEffect(() => () => running.current?.cancel(), []);

  async function choose(file: File): Promise<void> {
    setState({ step: "idle" });
    try {
      const beginning = await readBeginning(file);
      setChosen({ file, beginning, form: guessForm(beginning) });
      setReadError(beginning.length === 0 ? "The file is empty." : null);
    } catch {
      setReadError("The browser cannot read this file. Was it moved or deleted?");
    }
  }

  async function start(options: ImportOptions): Promise<void> {
    if (chosen === null) return;
    setState({ step: "running", sent: 0 });
    const upload = importFile(chosen.file, options, (sent) => setState({ step: "running", sent }));
    running.current = upload;
    try {
      const result = await upload.result;
      setState({ step: "done", result });
      await client.invalidateQueries({ queryKey: ["rows", options.table] });
    } catch (error) {
      const isCancelled = error instanceof DOMException;
      setState(isCancelled ? { step: "idle" } : { step: "failed", error });
    } finally {
      running.current = null;
    }
  }

  return {
    chosen,
    readError,
    state,
    preview: chosen === null ? null : previewFile(chosen.beginning, chosen.form),
    choose,
    setForm: (changes: Partial<FileForm>) => {
      if (chosen !== null) setChosen({ ...chosen, form: { ...chosen.form, ...changes } });
    },
    start,
    cancel: () => running.current?.cancel(),
    reset: () => setState({ step: "idle" }),
  };
}

export type Import = ReturnType<typeof useImport>;
