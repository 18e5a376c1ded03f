import { screen, waitFor } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { act } from "react";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { catalogQuery } from "@/api/catalog";
import type { Column } from "@/api/catalog-model";
import { makeCatalog, makeColumn } from "@/testing/columns";
import { renderConsole } from "@/testing/render";
import { makeTable } from "@/testing/tables";
import { ColumnForm } from "./column-form";
import type { SchemaChange } from "./form-dialog";

beforeEach(() => {
  // The catalog is put into the cache; nothing is asked of a server.
  vi.stubGlobal("fetch", () => new Promise(() => {}));
});
afterEach(() => vi.unstubAllGlobals());

const tableWith = (column: Partial<Column>) =>
  makeTable({ columns: [makeColumn("id"), makeColumn("price", { type: "integer", ...column })] });

function open() {
  const changes: SchemaChange[] = [];
  const table = tableWith({});
  const view = renderConsole(
    <ColumnForm
      table={table}
      column={table.columns[1] ?? null}
      onSubmit={(change) => changes.push(change)}
      onClose={() => undefined}
    />,
  );
  const setCatalog = (column: Partial<Column>) =>
    act(() => view.client.setQueryData(catalogQuery.queryKey, makeCatalog(tableWith(column))));
  setCatalog({});
  return { changes, setCatalog };
}

const show = () => userEvent.click(screen.getByRole("button", { name: "Show the change" }));

it("console_033_a_column_that_is_edited_follows_others_and_takes_nothing_of_theirs_back", async () => {
  const { changes, setCatalog } = open();
  const comment = screen.getByLabelText("Comment");
  await userEvent.type(comment, "In cents");
  // Somebody else changes the type and the default meanwhile.
  setCatalog({ type: "bigint", default: "0" });
  await waitFor(() => expect(screen.getByLabelText("Default")).toHaveValue("0"));
  expect(comment).toHaveValue("In cents");
  await show();

  expect(changes).toHaveLength(1);
  expect(changes[0]?.sql).toContain("In cents");
  expect(changes[0]?.sql).not.toMatch(/type|default/);
  // The form is as it was when the preview is closed.
  expect(comment).toHaveValue("In cents");
  await show();
  expect(changes).toHaveLength(2);
});

it("console_033_what_both_have_changed_of_a_column_is_asked_about", async () => {
  const { changes, setCatalog } = open();
  const comment = screen.getByLabelText("Comment");
  await userEvent.type(comment, "Mine");
  setCatalog({ comment: "Theirs" });
  await show();

  expect(await screen.findByText(/Somebody else has changed this/)).toBeVisible();
  expect(changes).toEqual([]);
  await userEvent.click(screen.getByRole("button", { name: "Keep mine" }));
  await waitFor(() => expect(changes[0]?.sql).toContain("Mine"));
});
