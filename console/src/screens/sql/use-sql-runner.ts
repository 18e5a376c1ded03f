/** Running the text of a tab: what part of it, the question before dangerous statements, and the history behind. */
import { type RefObject, useEffect, useMemo, useState, useSyncExternalStore } from "react";
import { ownerOf, useSession } from "@/api/session";
import { describeSubject, type Subject } from "@/api/subject";
import type { SqlEditorHandle, SqlFault } from "@/components/sql-editor/sql-editor";
import { type Danger, findDangers } from "@/lib/sql/dangers";
import { findStatementAt, findWordAt, offsetOfPosition } from "@/lib/sql/statements";
import { addToHistory } from "./run-history";
import { describeOutcome, type Run } from "./runs/run-model";
import {
  cancelRun,
  findRun,
  type RunRequest,
  runsVersion,
  startRun,
  subscribeToRuns,
  type TransactionMode,
} from "./runs/run-store";

export interface PendingRun {
  request: RunRequest;
  dangers: Danger[];
}

interface RunnerOptions {
  tab: string;
  text: string;
  subject: Subject;
  transaction: TransactionMode;
  editor: RefObject<SqlEditorHandle | null>;
}

export function useSqlRunner({ tab, text, subject, transaction, editor }: RunnerOptions) {
  const owner = ownerOf(useSession());
  const version = useSyncExternalStore(subscribeToRuns, runsVersion);
  const [pending, setPending] = useState<PendingRun | null>(null);
  const run = findRun(tab);

  async function start(request: RunRequest) {
    setPending(null);
    const ended = await startRun(tab, request);
    addToHistory(owner, {
      text: request.text,
      at: ended.startedAt,
      subject: describeSubject(request.subject),
      outcome: describeOutcome(ended),
      elapsedMs: ended.elapsedMs,
    });
  }

  /** The selection, or the statement at the cursor, or everything. */
  function readPart(onlyStatement: boolean): { text: string; offset: number } | null {
    const { from, to, cursor } = editor.current?.selection() ?? { from: 0, to: 0, cursor: 0 };
    if (from !== to) return { text: text.slice(from, to), offset: from };
    if (!onlyStatement) return text.trim() === "" ? null : { text, offset: 0 };
    const statement = findStatementAt(text, cursor);
    return statement && { text: statement.text, offset: statement.start };
  }

  return {
    run,
    pending,
    /** Changes with each piece of the run; the run itself is changed in place. */
    version,
    faults: useFaults(run, text, version),
    readPart,
    request(onlyStatement: boolean) {
      const part = readPart(onlyStatement);
      if (part === null || run?.status === "running") return;
      const request = { ...part, subject, transaction };
      const dangers = findDangers(part.text);
      if (dangers.length > 0) setPending({ request, dangers });
      else void start(request);
    },
    confirm: () => pending && void start(pending.request),
    dismiss: () => setPending(null),
    cancel: () => void cancelRun(tab),
  };
}

/** Underlines the word at the error's position, as long as the editor still contains the text that was run. */
function useFaults(run: Run | undefined, text: string, version: number): readonly SqlFault[] {
  // biome-ignore lint/correctness/useExhaustiveDependencies: the run is changed in place, and the version says when.
  return useMemo(() => {
    if (run === undefined || !text.startsWith(run.text, run.offset)) return [];
    return run.results.flatMap(({ fault, start }) => {
      if (fault === null) return [];
      const position = fault.position ?? (start > 0 ? start + 1 : null);
      if (position === null) return [];
      const { from, to } = findWordAt(run.text, offsetOfPosition(run.text, position));
      const message = `${fault.code} ${fault.message}`;
      return [{ from: from + run.offset, to: to + run.offset, message }];
    });
  }, [run, text, version]);
}

/** Milliseconds since a start, told every 100 ms while something runs. */
export function useElapsed(startedAt: number, isRunning: boolean): number {
  const [now, setNow] = useState(startedAt);
  useEffect(() => {
    if (!isRunning) return undefined;
    const timer = window.setInterval(() => setNow(Date.now()), 100);
    return () => window.clearInterval(timer);
  }, [isRunning]);
  return Math.max(0, now - startedAt);
}
