import { afterEach, expect, it, vi } from "vitest";
import { readPage } from "@/lib/rows/read-page";
import { currentToasts } from "@/lib/toast";
import { makeCatalog, makeColumn } from "@/testing/columns";
import { makeTable } from "@/testing/tables";
import { copyCells, readCells } from "./clipboard";
import { stageBlock } from "./staging-actions";
import { gridRows } from "./table-rows";

afterEach(() => vi.unstubAllGlobals());

const table = makeTable({ columns: [makeColumn("id"), makeColumn("note"), makeColumn("extra")] });
const columns = table.columns.map((column) => ({
  column,
  kind: "text" as const,
  width: 100,
  isKey: false,
  isForeignKey: false,
}));
const owner = "shop:ana";
const admin = { kind: "admin" } as const;

const rowsOf = (values: (string | null)[][], cuts: { row: number; bytes: number }[] = []) =>
  gridRows(
    table,
    readPage({
      columns: table.columns.map(({ name, type }) => ({ name, type })),
      rows: values,
      ids: values.map(([id]) => ({ key: [id ?? ""], xmin: "1" })),
      cuts: cuts.map((cut) => ({ ...cut, column: "note" })),
      next: null,
      previous: null,
      index_used: true,
      elapsed_ms: 1,
      sql: "",
    }),
    [],
  );

/** What jsdom lacks of the clipboard's data. */
function fakeClipboard(): DataTransfer {
  const data = new Map<string, string>();
  const clipboard = {
    setData: (type: string, text: string) => data.set(type, text),
    getData: (type: string) => data.get(type) ?? "",
  };
  return clipboard as unknown as DataTransfer;
}

it("console_034_null_and_the_empty_text_stay_different_when_cells_are_copied_and_pasted", () => {
  const clipboard = fakeClipboard();
  const rows = rowsOf([["1", null, "NULL"]]);
  copyCells(clipboard, { owner, rows, columns: columns.slice(1) }, table, admin);

  expect(clipboard.getData("text/plain")).toBe("\tNULL");
  const target = rowsOf([["2", "old", "old"]]);
  const catalog = makeCatalog(table);
  const {
    staged: [staged],
  } = stageBlock([], {
    table,
    catalog,
    columns,
    rows: target,
    row: 0,
    column: 1,
    block: readCells(clipboard, owner),
  });
  expect(staged?.change).toMatchObject({
    values: { note: { value: null }, extra: { value: "NULL" } },
  });
});

it("console_034_a_clipboard_without_text_is_not_the_null_that_was_copied_before", () => {
  const rows = rowsOf([["1", null, ""]]);
  const clipboard = fakeClipboard();
  copyCells(clipboard, { owner, rows, columns: columns.slice(1, 2) }, table, admin);
  expect(readCells(clipboard, owner)).toEqual([[{ value: null }]]);
  copyCells(clipboard, { owner, rows, columns: columns.slice(2) }, table, admin);
  expect(readCells(clipboard, owner)).toEqual([[{ value: "" }]]);

  // A picture was copied elsewhere.
  expect(readCells(fakeClipboard(), owner)).toEqual([]);
  // Another program says that its cell is the empty text.
  const quoted = fakeClipboard();
  quoted.setData("text/plain", '""');
  expect(readCells(quoted, owner)).toEqual([[""]]);
});

it("console_034_null_stays_null_in_another_tab_that_sees_the_text_alone", async () => {
  const other = new BroadcastChannel("console:copied");
  const text = "\tlong";
  other.postMessage({ owner, text, cells: [[{ value: null }, { value: "long" }]] });
  const clipboard = fakeClipboard();
  clipboard.setData("text/plain", text);

  await vi.waitFor(() =>
    expect(readCells(clipboard, owner)).toEqual([[{ value: null }, { value: "long" }]]),
  );
  other.close();
});

it("console_054_a_cell_with_line_breaks_and_tabs_stays_one_cell", () => {
  const clipboard = fakeClipboard();
  copyCells(
    clipboard,
    { owner, rows: rowsOf([["1", "a\tb\nc", ""]]), columns: columns.slice(1, 2) },
    table,
    admin,
  );

  expect(clipboard.getData("text/plain")).toBe('"a\tb\nc"');
  expect(readCells(clipboard, owner)).toEqual([[{ value: "a\tb\nc" }]]);
  // A browser that keeps the text alone, and a system that rewrites its line ends.
  const plain = fakeClipboard();
  plain.setData("text/plain", '"a\tb\r\nc"');
  expect(readCells(plain, owner)).toEqual([[{ value: "a\tb\nc" }]]);
});

it("console_052_a_cut_value_is_copied_whole_or_not_at_all", async () => {
  const whole = "x".repeat(5000);
  const asked: unknown[] = [];
  vi.stubGlobal("fetch", async (_: string, init: RequestInit) => {
    asked.push(JSON.parse(String(init.body)));
    return new Response(whole);
  });
  const written: Blob[] = [];
  class FakeItem {
    constructor(readonly parts: Record<string, Promise<Blob>>) {}
  }
  vi.stubGlobal("ClipboardItem", FakeItem);
  vi.stubGlobal("navigator", {
    clipboard: {
      write: async ([item]: FakeItem[]) => {
        const blob = await item?.parts["text/plain"];
        if (blob !== undefined) written.push(blob);
      },
    },
  });
  const clipboard = fakeClipboard();
  const rows = rowsOf([["1", "xxx", ""]], [{ row: 0, bytes: 5000 }]);
  copyCells(clipboard, { owner, rows, columns: columns.slice(1, 2) }, table, { kind: "anon" });

  expect(clipboard.getData("text/plain")).toBe("");
  await vi.waitFor(() => expect(written).toHaveLength(1));
  expect(await written[0]?.text()).toBe(whole);
  expect(asked).toMatchObject([{ column: "note", subject: { kind: "anon" } }]);

  vi.stubGlobal("fetch", async () => {
    throw new TypeError("no network");
  });
  copyCells(clipboard, { owner, rows, columns: columns.slice(1, 2) }, table, admin);
  await vi.waitFor(() => expect(currentToasts().at(-1)?.title).toBe("It was not copied"));
});

it("console_034_cells_that_another_account_has_copied_are_the_text_of_the_clipboard_alone", () => {
  const clipboard = fakeClipboard();
  copyCells(clipboard, { owner, rows: rowsOf([["1", null, ""]]), columns }, table, admin);
  const plain = fakeClipboard();
  plain.setData("text/plain", clipboard.getData("text/plain"));

  expect(readCells(plain, owner)).toEqual([[{ value: "1" }, { value: null }, { value: "" }]]);
  expect(readCells(plain, "shop:ben")).not.toEqual(readCells(plain, owner));
});
