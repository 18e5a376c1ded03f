import { act, fireEvent, screen, waitFor, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { askBeforeLeaving } from "@ui/typed-forms";
import { afterEach, expect, it, vi } from "vitest";
import { catalogQuery } from "@/api/catalog";
import { makeCatalog, makeColumn } from "@/testing/columns";
import { renderConsole } from "@/testing/render";
import { makeTable } from "@/testing/tables";
import { ImportFrame } from "./import-frame";
import { ImportIntoNewTable } from "./into-new-table";
import { ImportIntoTable } from "./into-table";
import { findCreated } from "./new-table-draft";

afterEach(() => vi.unstubAllGlobals());

async function choose(name: string, text: string): Promise<void> {
  const input = document.querySelector<HTMLInputElement>("input[type=file]");
  if (input === null) throw new Error("There is no field for a file.");
  await userEvent.upload(input, new File([text], name, { type: "text/csv" }));
  await screen.findByText(name);
}

const shown = (label: string) =>
  screen.getByLabelText<HTMLInputElement | HTMLSelectElement>(label).value;

// jsdom has no layout, which the editor of the SQL asks for.
Range.prototype.getClientRects = () => [] as unknown as DOMRectList;

it("console_059_another_file_is_assigned_by_its_own_titles", async () => {
  const table = makeTable({ columns: ["first", "last", "note"].map((name) => makeColumn(name)) });
  renderConsole(<ImportIntoTable table={table} onClose={vi.fn()} />);
  await choose("a.csv", "first,last,remark\nAda,Lovelace,x\n");
  await userEvent.selectOptions(screen.getByLabelText("Column for remark"), "note");
  expect(shown("Column for remark")).toBe("note");

  await choose("b.csv", "last,first,remark\nLovelace,Ada,x\n");
  expect(["last", "first"].map((title) => shown(`Column for ${title}`))).toEqual(["last", "first"]);
});

it("console_059_a_new_table_takes_names_and_types_of_another_file_from_that_file", async () => {
  renderConsole(<ImportIntoNewTable taken={[]} onClose={vi.fn()} />);
  await choose("a.csv", "id,code\n1,2\n");
  fireEvent.change(screen.getByLabelText("Name of the table"), { target: { value: "mine" } });
  fireEvent.change(screen.getByLabelText("Name for code"), { target: { value: "mark" } });

  await choose("b.csv", "id,code\n1,007\n");
  expect(shown("Name of the table")).toBe("b");
  expect(shown("Name for code")).toBe("code");
  expect(shown("Type for code")).toBe("text");
});

it("console_059_a_name_that_is_typed_while_the_types_are_checked_does_not_end_the_check", async () => {
  renderConsole(<ImportIntoNewTable taken={[]} onClose={vi.fn()} />);
  const lines = Array.from({ length: 60_000 }, (_, index) => `${index},${index},filling text`);
  lines[50_000] = "50000,00123,late";
  await choose("codes.csv", `id,code,note\n${lines.join("\n")}\n`);
  fireEvent.change(screen.getByLabelText("Name of the table"), { target: { value: "mine" } });
  expect(screen.getByText(/types are compared/)).toBeVisible();

  await waitFor(() => expect(screen.queryByText(/types are compared/)).toBeNull(), {
    timeout: 15_000,
  });
  expect(shown("Type for code")).toBe("text");
  expect(shown("Name of the table")).toBe("mine");
}, 20_000);

it("console_059_a_table_whose_sql_was_edited_is_filled_under_its_own_name_or_it_is_said_why_not", () => {
  const wanted = {
    name: "codes",
    columns: [{ isIncluded: true, name: "code", type: "text" }],
  };
  const other = makeTable({ oid: "1", name: "other" });
  const made = (...columns: string[]) =>
    makeTable({ oid: "2", name: "marks", columns: columns.map((name) => makeColumn(name)) });
  const known = new Set(["1"]);

  expect(findCreated([other, made("id", "code")], wanted, known)).toMatchObject({ oid: "2" });
  expect(findCreated([other, made("id")], wanted, known)).toMatch(/marks was made without code/);
  expect(findCreated([other], wanted, known)).toMatch(/nothing was imported/);
});

it("console_059_a_running_import_asks_before_back_or_a_reload_ends_it", async () => {
  const cancel = vi.fn();
  const frame = (isDone: boolean, isRunning = !isDone) => (
    <ImportFrame
      title="Import"
      isRunning={isRunning}
      isDone={isDone}
      note={undefined}
      action={null}
      onCancel={cancel}
      onClose={vi.fn()}
    >
      0 %
    </ImportFrame>
  );
  const view = renderConsole(frame(false));
  expect(window.dispatchEvent(new Event("beforeunload", { cancelable: true }))).toBe(false);

  const leave = vi.fn();
  const here = { pathname: "/tables", search: "" };
  act(() => void askBeforeLeaving({ from: here, to: here, isHistory: true }, leave));
  expect(await screen.findByText("Cancel the import?")).toBeVisible();
  expect(leave).not.toHaveBeenCalled();
  const answer = (name: string) =>
    userEvent.click(within(screen.getByRole("alertdialog")).getByRole("button", { name }));
  await answer("Cancel");

  // A stray Escape, too, and so do the cross and a press beside the window.
  await userEvent.keyboard("{Escape}");
  expect(await screen.findByText("Cancel the import?")).toBeVisible();
  expect(cancel).not.toHaveBeenCalled();
  await answer("Cancel the import");
  expect(cancel).toHaveBeenCalledOnce();

  // It ends while that is asked: its outcome is not closed by the answer.
  await userEvent.keyboard("{Escape}");
  expect(await screen.findByText("Cancel the import?")).toBeVisible();
  view.rerender(frame(true));
  await waitFor(() => expect(screen.queryByRole("alertdialog")).toBeNull());

  // It fails while that is asked, and is begun again: each is another thing than what was asked about.
  view.rerender(frame(false));
  fireEvent.input(screen.getByText("0 %"));
  await userEvent.keyboard("{Escape}");
  expect(await screen.findByText("Cancel the import?")).toBeVisible();
  view.rerender(frame(false, false));
  await waitFor(() => expect(screen.queryByRole("alertdialog")).toBeNull());
  view.rerender(frame(false));
  expect(screen.queryByRole("alertdialog")).toBeNull();
});

it("console_059_a_table_that_was_made_and_could_not_be_looked_up_is_filled_by_the_next_press", async () => {
  const sent: string[] = [];
  const made = makeTable({
    oid: "7",
    name: "codes",
    columns: [makeColumn("code"), makeColumn("note")],
  });
  let isAway = true;
  vi.stubGlobal("fetch", async (path: string, init?: RequestInit) => {
    if (path !== "/api/migrations") return Response.json({ message: "away" }, { status: 503 });
    const { preview } = JSON.parse(String(init?.body));
    if (preview !== true) sent.push("migration");
    return Response.json(
      preview === true
        ? {
            sql: "",
            locks: [],
            rewrites: false,
            rows: 0,
            dropped: [],
            dependants: [],
            notes: [],
          }
        : { file: "migrations/1_codes.sql", version: "1", notes: [] },
    );
  });
  vi.stubGlobal(
    "XMLHttpRequest",
    class {
      upload = {};
      status = 200;
      responseText = '{"rows":1}';
      onload = () => undefined;
      open = (_: string, path: string) => sent.push(path);
      setRequestHeader = () => undefined;
      send = () => this.onload();
      abort = () => undefined;
    },
  );
  const { client } = renderConsole(<ImportIntoNewTable taken={[]} onClose={vi.fn()} />);
  client.setQueryData(catalogQuery.queryKey, makeCatalog());
  const lookUp = async () => {
    if (isAway) throw new Error("The server cannot be reached.");
    return makeCatalog(made);
  };
  vi.spyOn(client, "fetchQuery").mockImplementation(lookUp as typeof client.fetchQuery);
  await choose("codes.csv", "code,note\nA,x\n");
  const show = await screen.findByRole("button", { name: "Show the table" });
  await waitFor(() => expect(show).toBeEnabled());
  await userEvent.click(show);
  const dialog = await screen.findByRole("dialog", { name: "Create table codes" });
  const save = within(dialog).getByRole("button", { name: "Save as migration" });
  await waitFor(() => expect(save).toBeEnabled(), { timeout: 5000 });
  await userEvent.click(save);
  expect(await screen.findByText(/The SQL was run\. Nothing is imported yet/)).toBeVisible();
  expect(sent).toEqual(["migration"]);

  isAway = false;
  await userEvent.click(screen.getByRole("button", { name: "Import" }));
  await waitFor(() => expect(sent).toHaveLength(2));
  expect(sent[1]).toMatch(/^\/api\/rows\/import\?table=7/);
}, 15_000);
