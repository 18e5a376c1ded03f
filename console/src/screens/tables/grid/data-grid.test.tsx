import { render, screen } from "@testing-library/react";
import { expect, it } from "vitest";
import { makeColumn } from "@/testing/columns";
import type { GridRow } from "../table-rows";
import { DataGrid } from "./data-grid";

const rows = Array.from(
  { length: 500 },
  (_, index): GridRow => ({ key: `${index}`, read: null, staged: undefined, mark: undefined }),
);
const columns = [
  { column: makeColumn("a"), kind: "text" as const, width: 100, isKey: false, isForeignKey: false },
];

const nothing = () => {};

it("console_053_the_row_that_is_edited_stays_drawn_when_it_is_scrolled_out", () => {
  render(
    <DataGrid
      label="Rows"
      columns={columns}
      rows={rows}
      totalRows={undefined}
      sort={[]}
      active={{ row: 400, column: 0, isShifted: true }}
      onActive={nothing}
      selected={new Set()}
      onSelect={nothing}
      onSelectAll={nothing}
      openRow={null}
      editor={<input aria-label="editor" />}
      onEdit={nothing}
      onKey={nothing}
      onPaste={nothing}
      onCopy={nothing}
      onReach={nothing}
      startsAtEnd={false}
      footer={null}
      onSort={nothing}
      onFilter={nothing}
      onHide={nothing}
      onResize={nothing}
    />,
  );

  // The first rows are in view.
  expect(screen.getByLabelText("Select row 1")).toBeInTheDocument();
  expect(screen.getByLabelText("editor")).toBeInTheDocument();
  expect(screen.queryByLabelText("Select row 200")).not.toBeInTheDocument();
});
