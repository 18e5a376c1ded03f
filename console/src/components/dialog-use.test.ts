import { expect, it } from "vitest";

const sources: Record<string, string> = import.meta.glob("/src/**/*.tsx", {
  query: "?raw",
  import: "default",
  eager: true,
});
const files = Object.entries(sources).filter(([path]) => !path.includes(".test."));
const having = (pattern: RegExp) => files.filter(([, text]) => pattern.test(text));
const pathsOf = (found: typeof files) => found.map(([path]) => path.replace("/src/", "")).sort();

/** What takes text: fields, editors, and forms that may hold them. */
const input =
  /<(Input|Textarea|textarea|SqlEditor|JsonEditor|ValueInput|form|input(?! type="search"))\b/;

it("console_031_dialogs_are_windows_of_one_kind_which_asks_before_typed_text_is_lost", () => {
  // The palette holds a search. The sign-in of an ended session cannot be closed. `Menu` and `Popover` close themselves as well, and
  // change what they are about with each press.
  expect(pathsOf(having(/\bDialog\b[^;]*from "radix-ui"/))).toEqual([
    "app/shell/command-palette.tsx",
    "app/sign-in-again.tsx",
    "components/dialog.tsx",
  ]);
  expect(pathsOf(having(/<dialog\b/))).toEqual([]);
});

it("console_031_only_dialogs_that_take_no_text_never_ask", () => {
  const silent = having(/isDirty=\{false\}/);

  expect(pathsOf(silent)).not.toEqual([]);
  expect(pathsOf(silent.filter(([, text]) => input.test(text)))).toEqual([
    // A format and a choice of rows, which are chosen again with two presses.
    "screens/tables/transfer/export-dialog.tsx",
  ]);
});

it("console_031_a_dialog_with_a_form_says_what_its_form_has_changed", () => {
  const withForm = having(/use(Edit|Draft)Form\(|useDraftForm</).filter(([, text]) =>
    /<Dialog\b/.test(text),
  );

  expect(pathsOf(withForm)).not.toEqual([]);
  for (const [path, text] of withForm) {
    expect(text, path).toMatch(/isDirty=\{(form|edit|props)?\.?isDirty\}/);
  }
});

it("console_031_a_dialog_with_an_editor_says_itself_what_was_changed_in_it", () => {
  // What is pasted into CodeMirror or deleted by a key is no event that the window could hear.
  const withEditor = having(/<(Lazy)?SqlEditor\b/).filter(([, text]) => /<Dialog\b/.test(text));

  expect(pathsOf(withEditor)).not.toEqual([]);
  for (const [path, text] of withEditor) expect(text, path).toMatch(/isDirty=\{/);
});

const componentsIn = (text: string) =>
  new Set([...text.matchAll(/<([A-Z]\w*)\b/g)].map(([, name = ""]) => name));

/** The files of the components that a file draws, but for those that are windows of their own. */
function filesDrawnBy([path, text]: [string, string], seen = new Set<string>()): Set<string> {
  const drawn = componentsIn(text);
  for (const [, names = "", from = ""] of text.matchAll(/import \{([^}]*)\} from "([@.][^"]*)"/g)) {
    if (![...drawn].some((name) => new RegExp(`\\b${name}\\b`).test(names))) continue;
    const folder = path.slice(0, path.lastIndexOf("/"));
    const file = from.startsWith("@/")
      ? `/src/${from.slice(2)}.tsx`
      : `${folder}/${from.slice(2)}.tsx`;
    const source = sources[file];
    if (source === undefined || seen.has(file) || /<Dialog\b/.test(source)) continue;
    seen.add(file);
    filesDrawnBy([file, source], seen);
  }
  return seen;
}

it("console_031_so_does_a_dialog_whose_editor_or_content_comes_from_another_file", () => {
  const editor = /<(Lazy)?SqlEditor\b/;
  const around = having(/<Dialog\b/).filter(
    (file) =>
      /\{children\}/.test(file[1]) ||
      [...filesDrawnBy(file)].some((path) => editor.test(sources[path] ?? "")),
  );
  const careless = around.filter(([, text]) => !/isDirty=\{(?!false)/.test(text));

  expect(pathsOf(around)).toContain("screens/schema/forms/form-dialog.tsx");
  const screen = files.find(([path]) => path.endsWith("/policies/table-screen.tsx"));
  expect([...filesDrawnBy(screen ?? ["", ""])]).toContain("/src/screens/policies/policy-form.tsx");
  expect(pathsOf(careless)).toEqual([]);
});

it("console_031_a_failed_refetch_takes_nothing_away_that_is_shown", () => {
  // `isError` is true with the former data, too, and a notice in their place would take typed text along.
  const decides = /if \(\w+\.isError\)|\w+\.isError \?/;
  const allowed = [
    // It asks for `data` first.
    "app/session-gate.tsx",
    // A mutation, whose former result is not shown beside its failure.
    "screens/policies/simulator.tsx",
    // The line below the rows.
    "screens/tables/table-grid.tsx",
  ];

  expect(pathsOf(having(decides))).toEqual(allowed);
});

it("console_031_nor_does_an_error_that_is_asked_for_before_the_data", () => {
  const decides = /(?<!=== undefined && )\berror !== null (\?|\) (return|\{))/;

  expect(
    pathsOf(having(/\buse(Infinite)?Query\(/).filter(([, text]) => decides.test(text))),
  ).toEqual([
    // The dry run of an SQL text: what another text would do is no answer for this one.
    "components/migration-dialog.tsx",
  ]);
});

it("console_034_json_that_is_shown_has_the_digits_that_the_server_has_sent", () => {
  // Indented JSON is for people. JSON.stringify writes numbers as JavaScript has rounded them.
  const laidOut = /JSON\.stringify\([^;]*?, null, \w+\)/;

  expect(pathsOf(having(laidOut))).toEqual([
    // Claims that are typed here, where numbers which would be rounded are refused.
    "components/subject-picker.tsx",
  ]);
});

it("console_031_what_could_not_be_read_again_says_so_above_what_is_shown", () => {
  const silent = having(/\.isLoadingError\b/).filter(([, text]) => !/<StaleNotice\b/.test(text));

  expect(pathsOf(silent)).toEqual([
    // The logged request is the beginning of a simulation, which is tried apart from it.
    "screens/policies/simulator-screen.tsx",
    // The content of a file, which has another key when it changes.
    "screens/storage/object-preview.tsx",
  ]);
});

it("console_031_a_form_that_is_part_of_a_page_asks_before_it_is_left_or_keeps_what_is_typed", () => {
  const inPage = having(/use(Edit|Draft)Form(<\w+>)?\(\{/).filter(
    ([, text]) => !/<(\w*Dialog)\b/.test(text),
  );
  const careless = inPage.filter(([, text]) => !/<KeepTyped\b|useKeptDraft\(/.test(text));

  expect(pathsOf(inPage)).toContain("screens/users/user-metadata.tsx");
  expect(pathsOf(careless)).toEqual([
    // A password is typed again.
    "app/sign-in-form.tsx",
    // Its screen asks, which knows what the edit began with.
    "screens/policies/policy-form.tsx",
    // One line of a filter, in a popover.
    "screens/tables/toolbar/filter-form.tsx",
  ]);
});

it("console_033_what_closes_when_it_is_saved_takes_nothing_that_is_typed_meanwhile", () => {
  const saved = having(/use(Edit|Draft)Form(<\w+>)?\(|\buseMutation\(/).filter(
    ([, text]) => /<(\w*Dialog)\b/.test(text) && input.test(text),
  );
  // `NameDialog` holds the fields of the forms that tell it that they are saved.
  const careless = saved.filter(
    ([, text]) => !/<SavingFields\b/.test(text) && !/<NameDialog\b[^>]*\bpending=/s.test(text),
  );

  expect(pathsOf(saved)).toContain("screens/storage/bucket-dialog.tsx");
  expect(pathsOf(careless)).toEqual([
    // It stages the value in this browser, at once.
    "screens/tables/bulk-edit.tsx",
    // A format and a choice of rows, which are chosen again with two presses.
    "screens/tables/transfer/export-dialog.tsx",
    // It stays open.
    "screens/users/configuration/hook-card.tsx",
  ]);
});
