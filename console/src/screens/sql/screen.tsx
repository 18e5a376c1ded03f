/** The SQL editor: queries in tabs, run as any subject, with a result per statement (CONSOLE-090 to 096). */
import { Button } from "@ui/button";
import { cn } from "@ui/cn";
import { keepLineEnds } from "@ui/line-ends";
import { useEffect, useRef, useState, useSyncExternalStore } from "react";
import { useCatalog } from "@/api/catalog";
import { useSession } from "@/api/session";
import { ConfirmDialog } from "@/components/confirm-dialog";
import { ScreenLayout } from "@/components/screen-layout";
import { Split } from "@/components/split";
import { SqlEditor, type SqlEditorHandle } from "@/components/sql-editor/sql-editor";
import { offsetOfPosition } from "@/lib/sql/statements";
import { subjectFromParam } from "@/lib/subject-param";
import { toast } from "@/lib/toast";
import { useSearchParams } from "@/lib/use-search-params";
import { CellPanel, type OpenCell } from "./cell-panel";
import { DangerDialog } from "./danger-dialog";
import { DocumentTabs } from "./document-tabs";
import {
  addDocument,
  changeDocument,
  hashText,
  keepText,
  openDocumentsOf,
  readText,
  removeDocument,
  reopenDocument,
  type SqlDocument,
  useDocuments,
  useText,
} from "./documents";
import { findEditableCell } from "./edit-result";
import { ResultPane } from "./result-pane";
import { forgetRun, listRunning, runsVersion, subscribeToRuns } from "./runs/run-store";
import { SaveDialog } from "./save-dialog";
import { SnippetQuestion } from "./snippet-question";
import { whyNoSnippetChanges } from "./snippets";
import { SqlList } from "./sql-list";
import { SqlToolbar } from "./sql-toolbar";
import { usePlan } from "./use-plan";
import { useSaveTab } from "./use-save-tab";
import { useSqlRunner } from "./use-sql-runner";
import { useSqlSettings } from "./use-sql-settings";

export function Screen() {
  openDocumentsOf(useSession());
  const documents = useDocuments();
  useSyncExternalStore(subscribeToRuns, runsVersion);
  const running = new Set(listRunning());
  const [params, setParams] = useSearchParams();
  const current = documents.find(({ id }) => id === params.get("tab")) ?? documents[0];
  const setParam = (name: string, value: string | null) =>
    setParams(
      (before) => {
        const next = new URLSearchParams(before);
        if (value === null) next.delete(name);
        else next.set(name, value);
        if (name === "tab") next.delete("result");
        return next;
      },
      { replace: name !== "tab" },
    );
  const openText = (text: string, name?: string, snippet?: string) => {
    setParam("tab", addDocument(text, name, snippet ?? null));
  };
  const close = (id: string) => {
    const hadText = readText(id).trim() !== "";
    forgetRun(id);
    const neighbour = removeDocument(id);
    if (id === current?.id) setParam("tab", neighbour);
    if (!hadText) return;
    toast({
      title: "Query closed",
      action: { label: "Undo", run: () => setParam("tab", reopenDocument()) },
    });
  };
  const isListOpen = params.get("list") !== null;
  const [cell, setCell] = useState<OpenCell | null>(null);
  if (current === undefined) return null;
  return (
    <ScreenLayout
      title="SQL"
      detail={current.name}
      actions={
        // Phones show the list in the place of the editor.
        isListOpen && (
          <Button size="dense" className="md:hidden" onClick={() => setParam("list", null)}>
            Back to the query
          </Button>
        )
      }
      list={{
        label: "Snippets and history",
        content: (
          <SqlList
            tab={params.get("list") ?? "snippets"}
            onTab={(tab) => setParam("list", tab)}
            onOpen={(text, name, snippet) => {
              openText(text, name, snippet);
              setParam("list", null);
            }}
          />
        ),
      }}
      isObjectOpen={!isListOpen}
      onBack={() => setParam("list", "snippets")}
      panel={
        cell === null
          ? undefined
          : {
              label: cell.column.name,
              content: <CellPanel cell={cell} />,
              onClose: () => setCell(null),
            }
      }
      scrolls={false}
    >
      <DocumentTabs
        documents={documents}
        current={current.id}
        running={running}
        onOpen={(id) => setParam("tab", id)}
        onClose={close}
        onAdd={() => openText("")}
        onReopen={() => setParam("tab", reopenDocument())}
      />
      <Query
        key={current.id}
        document={current}
        resultTab={params.get("result")}
        onResultTab={(tab) => setParam("result", tab)}
        subjectParam={params.get("as")}
        onSubjectParam={(param) => setParam("as", param)}
        onOpenCell={setCell}
        onMoved={(id) => setParam("tab", id)}
      />
    </ScreenLayout>
  );
}

interface QueryProps {
  document: SqlDocument;
  resultTab: string | null;
  onResultTab: (tab: string | null) => void;
  subjectParam: string | null;
  onSubjectParam: (param: string | null) => void;
  onOpenCell: (cell: OpenCell) => void;
  /** What was typed is in another tab now. */
  onMoved: (id: string) => void;
}

/** One tab: its text, toolbar and results. */
function Query(props: QueryProps) {
  const { document, resultTab, onResultTab, onOpenCell } = props;
  const { id, name, snippet } = document;
  const text = useText(id);
  const [isKept, setKept] = useState(true);
  const [isNaming, setNaming] = useState(false);
  const editor = useRef<SqlEditorHandle>(null);
  const settings = useSqlSettings(subjectFromParam(props.subjectParam), props.onSubjectParam);
  const runner = useSqlRunner({ tab: id, text, editor, ...settings });
  const catalog = useCatalog();
  const plan = usePlan();
  const saving = useSaveTab(document, text);
  const saveRefusal = whyNoSnippetChanges(useSession());
  useEffect(() => editor.current?.focus(), []);

  const change = (next: string) => {
    const kept = keepText(id, keepLineEnds(text, next));
    setKept(kept.isKept);
    if (kept.id === id) return;
    props.onMoved(kept.id);
    toast({
      title: "Another window has changed this query",
      description: "Your text goes on in a tab of its own.",
    });
  };
  const run = (onlyStatement: boolean) => {
    onResultTab(null);
    runner.request(onlyStatement);
  };
  const explain = (analyze: boolean) => {
    const part = runner.readPart(true);
    plan.ask(part?.text ?? "", analyze, settings.subject, () => onResultTab("plan"));
  };
  const saveSnippet = () => {
    if (saveRefusal !== undefined) {
      toast({ title: "It was not saved", description: saveRefusal, tone: "danger" });
    } else if (snippet === null) setNaming(true);
    else saving.save();
  };
  return (
    <div id="sql-panel" role="tabpanel" aria-label={name} className="flex min-h-0 flex-1 flex-col">
      <SqlToolbar
        {...settings}
        isRunning={runner.run?.status === "running"}
        isExplaining={plan.isPending}
        onRun={() => run(false)}
        onRunStatement={() => run(true)}
        onCancel={runner.cancel}
        onExplain={explain}
        onSave={saveSnippet}
      />
      {!isKept && (
        <p role="alert" className="border-line border-b bg-changed px-4 py-1.5 text-caption">
          This browser's storage is full or off, so the text will not survive a reload.
        </p>
      )}
      <Split
        name="sql"
        label="Height of the editor"
        top={
          <SqlEditor
            ref={editor}
            label={`SQL of ${name}`}
            value={text}
            onChange={change}
            onRun={run}
            onSave={saveSnippet}
            faults={runner.faults}
            placeholder="select …"
            className="h-full bg-canvas"
          />
        }
        bottom={
          <div
            data-version={runner.version}
            className={cn("flex min-h-0 flex-1 flex-col bg-surface")}
          >
            <ResultPane
              run={runner.run}
              plan={plan.plan}
              tab={resultTab}
              onTab={onResultTab}
              onOpenCell={(result, row, column) => {
                const found = result.columns?.[column];
                const value = result.rows[row]?.[column];
                if (found !== undefined && value !== undefined) {
                  const editable =
                    catalog === undefined ? null : findEditableCell(catalog, result, row, column);
                  const cutBytes = result.cuts.get(`${row}:${column}`) ?? null;
                  onOpenCell({ column: found, row: row + 1, value, cutBytes, editable });
                }
              }}
              onReveal={(position) => {
                const sent = runner.run;
                if (sent === undefined) return;
                editor.current?.reveal(sent.offset + offsetOfPosition(sent.text, position));
              }}
            />
          </div>
        }
      />
      {runner.pending !== null && (
        <DangerDialog
          dangers={runner.pending.dangers}
          subject={runner.pending.request.subject}
          isOneTransaction={settings.transaction === "one"}
          onConfirm={runner.confirm}
          onClose={runner.dismiss}
        />
      )}
      {plan.question !== null && (
        <ConfirmDialog
          title="Run this write to measure it?"
          text="ANALYZE runs the statement and rolls it back. Sequences move on, and calls to other servers stay."
          confirmLabel="Run and roll back"
          onConfirm={plan.confirm}
          onClose={plan.dismiss}
        />
      )}
      {saving.overtaken !== null && (
        <SnippetQuestion
          name={saving.overtaken.name}
          isGone={saving.overtaken.theirs === null}
          pending={saving.isSaving}
          onReplace={saving.replace}
          onOpenTheirs={() => {
            const theirs = saving.openTheirs();
            if (theirs !== null) props.onMoved(theirs);
          }}
          onClose={saving.dismiss}
        />
      )}
      {isNaming && (
        <SaveDialog
          suggestion={name}
          text={text}
          onClose={() => setNaming(false)}
          onSaved={(saved) => {
            changeDocument(id, { name: saved, snippet: saved, base: hashText(text) });
            setNaming(false);
            toast({ title: `${saved} saved`, tone: "success" });
          }}
        />
      )}
    </div>
  );
}
