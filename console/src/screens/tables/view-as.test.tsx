import { screen, waitFor } from "@testing-library/react";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import type { Subject } from "@/api/subject";
import { type StagedChanges, stageInsert, stageUpdate } from "@/lib/rows/staged";
import { openStagedStore } from "@/lib/rows/staged-store";
import { readView } from "@/lib/rows/table-view";
import { makeCatalog, makeColumn } from "@/testing/columns";
import { renderConsole } from "@/testing/render";
import { makeTable } from "@/testing/tables";
import { RowPanel } from "./row-panel";
import type { Staging } from "./staged/use-staging";
import { cellOf, gridRows } from "./table-rows";
import { useOpenRow } from "./use-open-row";
import { useRowPages } from "./use-row-pages";
import { useTableEditor } from "./use-table-editor";

const table = makeTable({ columns: [makeColumn("id"), makeColumn("secret")] });
const orders = makeTable({ oid: "10", name: "orders", columns: [makeColumn("item")] });
const admin: Subject = { kind: "admin" };
const anon: Subject = { kind: "anon" };

interface Sent {
  table: string;
  subject?: Subject;
}
let sent: { path: string; body: Sent }[];
let answer: (path: string, body: Sent) => Promise<Response>;

beforeEach(() => {
  sent = [];
  answer = async (path, { subject }) =>
    path.endsWith("/count")
      ? Response.json({ count: subject === undefined ? 7 : 0, exact: true })
      : Response.json(pageOf(subject === undefined ? [["1", "hidden"]] : []));
  vi.stubGlobal("fetch", async (path: string, init: RequestInit) => {
    const body = JSON.parse(String(init.body)) as Sent;
    sent.push({ path, body });
    return answer(path, body);
  });
});

afterEach(() => vi.unstubAllGlobals());

const pageOf = (rows: string[][]) => ({
  columns: table.columns.map(({ name, type }) => ({ name, type })),
  rows,
  ids: rows.map(([id]) => ({ key: [id], xmin: "1" })),
  cuts: [],
  next: null,
  previous: null,
  index_used: true,
  elapsed_ms: 1,
  sql: "",
});

function OpenRow({ subject }: { subject: Subject }) {
  const { row, isPending } = useOpenRow({
    table,
    key: '["1"]',
    rows: [],
    hasAllColumns: true,
    staged: [],
    subject,
  });
  return <p>{isPending ? "pending" : (row?.read?.cells.join() ?? "nothing")}</p>;
}

it("console_060_a_row_of_a_link_is_read_as_the_person_who_is_viewed_as", async () => {
  const { rerender } = renderConsole(<OpenRow subject={admin} />);
  expect(await screen.findByText("1,hidden")).toBeVisible();

  rerender(<OpenRow subject={anon} />);
  expect(await screen.findByText("nothing")).toBeVisible();
  expect(sent.at(-1)?.body.subject).toEqual(anon);
});

function Pages({ subject }: { subject: Subject }) {
  const view = { ...readView(new URLSearchParams()), subject };
  const { rows } = useRowPages(table, ["id", "secret"], view);
  return <p>{`rows: ${rows.map(({ key }) => key).join()}`}</p>;
}

it("console_060_rows_of_the_former_person_are_no_placeholder", async () => {
  const { rerender } = renderConsole(<Pages subject={admin} />);
  expect(await screen.findByText('rows: ["1"]')).toBeVisible();

  answer = () => new Promise(() => {});
  rerender(<Pages subject={anon} />);
  expect(await screen.findByText("rows:")).toBeVisible();
});

it("console_060_rows_that_refer_to_one_are_counted_and_opened_as_that_person", async () => {
  const catalog = {
    ...makeCatalog(table, orders),
    foreignKeys: [
      {
        name: "fk",
        table: "10",
        columns: ["item"],
        target: table.oid,
        target_columns: ["id"],
        on_delete: "a",
        on_update: "a",
      },
    ],
  };
  const [row] = gridRows(
    table,
    [
      {
        key: '["1"]',
        id: { key: ["1"] },
        cells: ["1", "x"],
        places: new Map([
          ["id", 0],
          ["secret", 1],
        ]),
        cuts: undefined,
      },
    ],
    [],
  );
  renderConsole(
    <RowPanel
      table={table}
      catalog={catalog}
      row={row}
      isPending={false}
      error={null}
      subject={anon}
      disabledReason={undefined}
      noInsert={undefined}
      noDelete={undefined}
      fault={undefined}
      onChange={() => {}}
      onDuplicate={() => {}}
      onDelete={() => {}}
      onLoadWhole={() => {}}
    />,
  );

  const link = await screen.findByRole("link", { name: /public\.orders/ });
  await waitFor(() => expect(link).toHaveTextContent("0"));
  expect(link).toHaveAttribute("href", expect.stringContaining("as=anon"));
  expect(sent.map(({ body }) => body.subject)).toEqual([anon]);
});

function Editor({ staged }: { staged: StagedChanges }) {
  const staging = { store: openStagedStore("view-as"), changes: staged } as unknown as Staging;
  const { rows, view, open, query } = useTableEditor(table, makeCatalog(table), staging);
  const cells = rows.map((row) => table.columns.map((column) => cellOf(row, column).value).join());
  return (
    <p>{`${view.subject.kind}${query.isPending ? " pending" : ""}: ${cells.join("; ")}; open ${open.row?.mark}`}</p>
  );
}

it("console_060_staged_changes_are_nothing_that_the_person_sees_who_is_viewed_as", async () => {
  answer = async () => Response.json(pageOf([["1", "read"]]));
  const edited = stageUpdate([], table.oid, { key: ["1"] }, {}, { secret: { value: "staged" } });
  const staged = stageInsert(edited, table.oid, { id: { value: "2" } });
  const own = renderConsole(<Editor staged={staged} />, "/?row=%5B%221%22%5D");
  expect(await screen.findByText("admin: 2,; 1,staged; open changed")).toBeVisible();
  own.unmount();

  renderConsole(<Editor staged={staged} />, "/?as=anon&row=%5B%221%22%5D");
  expect(await screen.findByText("anon: 1,read; open undefined")).toBeVisible();
});
