import { screen, waitFor } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { useState } from "react";
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

interface OpeningBarProps {
  filters: Filter[];
  onChange: (filters: Filter[]) => void;
}

/** The bar as the toolbar has it, which opens the form of a new filter. */
function OpeningBar({ filters, onChange }: OpeningBarProps) {
  const [opened, setOpened] = useState<string | null>(null);
  return (
    <FilterBar
      table={table}
      catalog={catalog}
      filters={filters}
      onChange={onChange}
      opened={opened}
      onOpen={setOpened}
    />
  );
}

it("console_053_a_filter_that_was_typed_and_not_applied_is_there_again_when_its_panel_is_opened_again", async () => {
  const onChange = vi.fn();
  const filters = [of("name", "Ana")];
  renderConsole(<OpeningBar filters={filters} onChange={onChange} />);
  const open = (name: RegExp) =>
    userEvent.click(screen.getByRole("button", { name, expanded: false }));
  const pressBeside = () => userEvent.click(document.body);
  for (const [button, before, applied] of [
    [/^name/, "Ana", [of("name", "Ana Ruiz")]],
    [/^Filter/, "", [...filters, of("name", " Ruiz")]],
  ] as const) {
    await open(button);
    expect(screen.getByLabelText("Value")).toHaveValue(before);
    await userEvent.type(screen.getByLabelText("Value"), " Ruiz");
    await pressBeside();
    await waitFor(() => expect(screen.queryByLabelText("Value")).toBeNull());
    expect(screen.getByText(/typed and not applied/)).toBeInTheDocument();
    await open(button);
    expect(screen.getByLabelText("Value")).toHaveValue(`${before} Ruiz`);
    await userEvent.click(screen.getByRole("button", { name: "Apply" }));
    await waitFor(() => expect(onChange).toHaveBeenLastCalledWith(applied));
    expect(screen.queryByText(/typed and not applied/)).toBeNull();
  }

  await open(/^name/);
  await userEvent.type(screen.getByLabelText("Value"), "!");
  await userEvent.click(screen.getByRole("button", { name: "Discard" }));
  await open(/^name/);
  expect(screen.getByLabelText("Value")).toHaveValue("Ana");
});
