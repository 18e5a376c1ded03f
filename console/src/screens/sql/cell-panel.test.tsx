import { fireEvent, screen } from "@testing-library/react";
import { afterEach, expect, it, vi } from "vitest";
import { renderConsole } from "@/testing/render";
import { makeTable } from "@/testing/tables";
import { CellPanel, type OpenCell } from "./cell-panel";
import type { EditableCell } from "./edit-result";

afterEach(() => vi.unstubAllGlobals());

const column = { name: "name", type: "text", table: "1", column: "name" };

/** The cell `name` of the row with the key 1; in another table where an oid is given. */
function cellOf(oid: string, value: string): OpenCell {
  const table = makeTable({ oid, name: `t${oid}` });
  const editable: EditableCell = { table, column: "name", key: [{ column: "id", value: "1" }] };
  return { column, row: 1, value, cutBytes: null, editable };
}

const field = () => screen.getByLabelText<HTMLTextAreaElement>(/^New value in/);

it("console_096_the_editor_of_a_cell_never_holds_the_text_of_another_table", () => {
  const { rerender } = renderConsole(<CellPanel cell={cellOf("1", "shirt")} />);
  fireEvent.change(field(), { target: { value: "typed for table 1" } });

  rerender(<CellPanel cell={cellOf("2", "coat")} />);
  expect(field().value).toBe("coat");

  // What was typed waits for its own cell.
  rerender(<CellPanel cell={cellOf("1", "shirt")} />);
  expect(field().value).toBe("typed for table 1");
});

it("console_033_a_value_that_was_read_anew_does_not_replace_the_base_of_an_edit", () => {
  const { rerender } = renderConsole(<CellPanel cell={cellOf("3", "shirt")} />);
  fireEvent.change(field(), { target: { value: "my shirt" } });

  rerender(<CellPanel cell={cellOf("3", "their shirt")} />);

  expect(field().value).toBe("my shirt");
  expect(screen.getByRole("alert")).toHaveTextContent(
    "The value has changed since you began. It was shirt.",
  );
  expect(screen.getByRole("button", { name: "Stage the change" })).toBeDisabled();
  fireEvent.click(screen.getByRole("button", { name: "Keep my text" }));
  expect(screen.getByRole("button", { name: "Stage the change" })).toBeEnabled();
});

it("console_033_nothing_is_typed_into_a_cell_while_its_change_is_staged", async () => {
  vi.stubGlobal("fetch", () => new Promise(() => {}));
  renderConsole(<CellPanel cell={cellOf("4", "shirt")} />);
  fireEvent.change(field(), { target: { value: "my shirt" } });
  fireEvent.click(screen.getByRole("button", { name: "Stage the change" }));

  expect(await screen.findByText("Saving…")).toBeInTheDocument();
  expect(field()).toBeDisabled();
});
