import { screen, waitFor } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { expect, it, vi } from "vitest";
import type { Filter } from "@/lib/rows/types";
import { makeCatalog, makeColumn } from "@/testing/columns";
import { renderConsole } from "@/testing/render";
import { makeTable } from "@/testing/tables";
import { FilterBar } from "./filter-bar";

const table = makeTable({ columns: [makeColumn("name"), makeColumn("city")] });
const catalog = makeCatalog(table);
const of = (column: string, value: string): Filter => ({ column, operator: "eq", value });

it("console_053_a_filter_that_is_edited_is_never_applied_to_another_one_in_its_place", async () => {
  const onChange = vi.fn();
  const bar = (filters: Filter[]) => (
    <FilterBar
      table={table}
      catalog={catalog}
      filters={filters}
      onChange={onChange}
      opened={null}
      onOpen={() => undefined}
    />
  );
  const { rerender } = renderConsole(bar([of("name", "Ana"), of("city", "Oslo")]));
  const value = () => screen.queryByLabelText("Value");
  await userEvent.click(screen.getByRole("button", { name: /city/, expanded: false }));
  await userEvent.type(value() ?? document.body, " or Rome");
  // The list is read anew with the same filters.
  rerender(bar([of("name", "Ana"), of("city", "Oslo")]));
  expect(value()).toHaveValue("Oslo or Rome");
  // Back: another filter stands in its place.
  rerender(bar([of("name", "Ana"), of("name", "Ben")]));
  expect(value()).toBeNull();

  rerender(bar([of("name", "Ana"), of("city", "Oslo")]));
  await userEvent.click(screen.getByRole("button", { name: /name/, expanded: false }));
  await userEvent.type(value() ?? document.body, "{Backspace}e{Enter}");
  await waitFor(() =>
    expect(onChange).toHaveBeenCalledWith([of("name", "Ane"), of("city", "Oslo")]),
  );
});
