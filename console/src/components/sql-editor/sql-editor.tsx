/** CodeMirror as a React component. The text is the editor's own; `value` replaces it only when it really differs. */
import { type Diagnostic, setDiagnostics } from "@codemirror/lint";
import { EditorState } from "@codemirror/state";
import { EditorView } from "@codemirror/view";
import { cn } from "@ui/cn";
import { type Ref, useEffect, useImperativeHandle, useRef } from "react";
import { useCatalog } from "@/api/catalog";
import { completionCatalogOf } from "./completion-catalog";
import { createExtensions } from "./sql-extensions";

export interface SqlFault {
  /** Offsets in UTF-16 units. */
  from: number;
  to: number;
  message: string;
}

export interface SqlEditorHandle {
  focus: () => void;
  /** Puts text in the place of the selection. */
  insert: (text: string) => void;
  /** Moves the cursor to an offset and shows it. */
  reveal: (offset: number) => void;
  selection: () => { from: number; to: number; cursor: number };
}

interface SqlEditorProps {
  label: string;
  value: string;
  onChange?: (text: string) => void;
  onRun?: (onlyStatement: boolean) => void;
  onSave?: () => void;
  onSelect?: (selection: { from: number; to: number }) => void;
  /** Errors, underlined in the text. */
  faults?: readonly SqlFault[];
  readOnly?: boolean;
  /** For one expression within a form. */
  field?: boolean;
  placeholder?: string;
  className?: string;
  ref?: Ref<SqlEditorHandle>;
}

const noFaults: readonly SqlFault[] = [];

export function SqlEditor(props: SqlEditorProps) {
  const { value, faults = noFaults, readOnly = false, field = false, className, ref } = props;
  const holder = useRef<HTMLDivElement>(null);
  const view = useRef<EditorView>(null);
  const catalog = useCatalog();
  // The editor is created once, so its handlers read the current props by this ref.
  const latest = useRef({ props, catalog });
  useEffect(() => {
    latest.current = { props, catalog };
  });

  useEffect(() => {
    if (holder.current === null) return;
    const { props: first } = latest.current;
    const editor = new EditorView({
      parent: holder.current,
      state: EditorState.create({
        doc: first.value,
        extensions: createExtensions({
          label: first.label,
          isReadOnly: readOnly,
          isField: field,
          placeholder: first.placeholder ?? "",
          getCatalog: () => completionCatalogOf(latest.current.catalog),
          onChange: (text) => latest.current.props.onChange?.(text),
          onSelect: (selection) => latest.current.props.onSelect?.(selection),
          onRun: first.onRun && ((one) => latest.current.props.onRun?.(one)),
          onSave: first.onSave && (() => latest.current.props.onSave?.()),
        }),
      }),
    });
    view.current = editor;
    return () => editor.destroy();
  }, [readOnly, field]);

  useEffect(() => {
    const editor = view.current;
    if (editor === null || editor.state.doc.toString() === value) return;
    editor.dispatch({ changes: { from: 0, to: editor.state.doc.length, insert: value } });
  }, [value]);

  useEffect(() => {
    const editor = view.current;
    if (editor === null) return;
    const { length } = editor.state.doc;
    const diagnostics = faults.map(({ from, to, message }): Diagnostic => {
      return { from: Math.min(from, length), to: Math.min(to, length), severity: "error", message };
    });
    editor.dispatch(setDiagnostics(editor.state, diagnostics));
  }, [faults]);

  useImperativeHandle(ref, () => handleOf(view), []);
  return (
    <div
      ref={holder}
      className={cn(
        "min-h-0 overflow-hidden",
        field &&
          "rounded-sm border border-line-strong/60 bg-raised focus-within:border-accent [&_.cm-line]:px-2.5 [&_.cm-content]:py-1.5 [&_.cm-scroller]:max-h-48",
        className,
      )}
    />
  );
}

function handleOf(view: { current: EditorView | null }): SqlEditorHandle {
  return {
    focus: () => view.current?.focus(),
    insert: (text) => {
      const editor = view.current;
      if (editor === null) return;
      editor.dispatch(editor.state.replaceSelection(text), { scrollIntoView: true });
      editor.focus();
    },
    reveal: (offset) => {
      const editor = view.current;
      if (editor === null) return;
      const anchor = Math.min(offset, editor.state.doc.length);
      editor.dispatch({ selection: { anchor }, scrollIntoView: true });
      editor.focus();
    },
    selection: () => {
      const range = view.current?.state.selection.main;
      return { from: range?.from ?? 0, to: range?.to ?? 0, cursor: range?.head ?? 0 };
    },
  };
}
