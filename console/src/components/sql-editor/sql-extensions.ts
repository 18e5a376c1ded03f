/** The editor's extensions: PostgreSQL's SQL, completion from the catalog, keys, the nonce for its styles. */
import {
  acceptCompletion,
  autocompletion,
  type CompletionContext,
  type CompletionResult,
  closeBrackets,
  closeBracketsKeymap,
  closeCompletion,
  completionKeymap,
} from "@codemirror/autocomplete";
import { defaultKeymap, history, historyKeymap, indentWithTab } from "@codemirror/commands";
import { PostgreSQL, sql } from "@codemirror/lang-sql";
import { bracketMatching, indentOnInput } from "@codemirror/language";
import { highlightSelectionMatches, searchKeymap } from "@codemirror/search";
import { EditorState, type Extension, Prec } from "@codemirror/state";
import {
  drawSelection,
  EditorView,
  highlightActiveLine,
  highlightActiveLineGutter,
  highlightSpecialChars,
  keymap,
  lineNumbers,
  placeholder,
} from "@codemirror/view";
import { cspNonce } from "@/lib/csp-nonce";
import { type CompletionCatalog, type CompletionKind, completeSql } from "./completion";
import { editorTheme } from "./editor-theme";

export interface SqlEditorOptions {
  label: string;
  /** Asked at each completion, because the catalog changes while the editor is open. */
  getCatalog: () => CompletionCatalog;
  onChange: (text: string) => void;
  /** Called by `mod+enter`, and by `mod+shift+enter` with true: only the statement at the cursor is to be run. */
  onRun?: ((onlyStatement: boolean) => void) | undefined;
  onSave?: (() => void) | undefined;
  onSelect?: ((selection: { from: number; to: number }) => void) | undefined;
  isReadOnly: boolean;
  /** A field for one expression has no line numbers, and Tab leaves it. */
  isField: boolean;
  placeholder: string;
}

/** CodeMirror's names of icons, by the kind of the completion. */
const icons: Record<CompletionKind, string> = {
  column: "property",
  table: "class",
  schema: "namespace",
  function: "function",
  keyword: "keyword",
  alias: "variable",
  join: "constant",
};

export function createExtensions(options: SqlEditorOptions): Extension[] {
  const nonce = cspNonce();
  return [
    nonce === undefined ? [] : EditorView.cspNonce.of(nonce),
    runKeys(options),
    options.isField ? [] : [lineNumbers(), highlightActiveLine(), highlightActiveLineGutter()],
    highlightSpecialChars(),
    history(),
    drawSelection(),
    indentOnInput(),
    bracketMatching(),
    closeBrackets(),
    highlightSelectionMatches(),
    EditorState.allowMultipleSelections.of(true),
    EditorView.lineWrapping,
    // Only the highlighting of the SQL package: its completion supports neither aliases nor the catalog.
    sql({ dialect: PostgreSQL, upperCaseKeywords: false }).language,
    autocompletion({ override: [(context) => complete(context, options.getCatalog())] }),
    keymap.of([
      { key: "Tab", run: acceptCompletion },
      ...closeBracketsKeymap,
      ...defaultKeymap,
      ...searchKeymap,
      ...historyKeymap,
      ...completionKeymap,
      ...(options.isField ? [] : [indentWithTab]),
    ]),
    placeholder(options.placeholder),
    EditorState.readOnly.of(options.isReadOnly),
    EditorView.contentAttributes.of({
      "aria-label": options.label,
      spellcheck: "false",
      autocapitalize: "off",
    }),
    EditorView.updateListener.of((update) => {
      if (update.docChanged) options.onChange(update.state.doc.toString());
      if (update.selectionSet || update.docChanged) options.onSelect?.(update.state.selection.main);
    }),
    editorTheme,
  ];
}

/** Before all other keys, since CodeMirror binds mod+enter to a new line. */
function runKeys({ onRun, onSave }: SqlEditorOptions): Extension {
  const bind = (key: string, action: (() => void) | undefined) =>
    action === undefined
      ? []
      : [
          {
            key,
            preventDefault: true,
            run: (view: EditorView) => {
              closeCompletion(view);
              action();
              return true;
            },
          },
        ];
  return Prec.highest(
    keymap.of([
      ...bind("Mod-Enter", onRun && (() => onRun(false))),
      ...bind("Mod-Shift-Enter", onRun && (() => onRun(true))),
      ...bind("Mod-s", onSave),
    ]),
  );
}

function complete(context: CompletionContext, catalog: CompletionCatalog): CompletionResult | null {
  const found = completeSql(context.state.doc.toString(), context.pos, catalog, context.explicit);
  if (found === null || found.options.length === 0) return null;
  return {
    from: found.from,
    validFor: /^"?[\p{L}\p{N}_$]*$/u,
    options: found.options.map(({ kind, label, insert, detail, boost }) => ({
      type: icons[kind],
      label,
      apply: insert,
      boost,
      ...(detail !== undefined && { detail }),
    })),
  };
}
