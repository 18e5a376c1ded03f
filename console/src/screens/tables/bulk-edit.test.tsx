import { screen, waitFor } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { expect, it, vi } from "vitest";
import { makeCatalog, makeColumn } from "@/testing/columns";
import { renderConsole } from "@/testing/render";
import { makeTable } from "@/testing/tables";
import { BulkEdit } from "./bulk-edit";

function open() {
  const table = makeTable({
    columns: [makeColumn("id"), makeColumn("note", { type: "text", nullable: true })],
  });
  const [onClose, onStageSelected] = [vi.fn(), vi.fn()];
  renderConsole(
    <BulkEdit
      table={table}
      catalog={makeCatalog(table)}
      filters={[]}
      selectedCount={2}
      onStageSelected={onStageSelected}
      onStageMatching={vi.fn()}
      onClose={onClose}
    />,
  );
  return { onClose, onStageSelected };
}

const press = (name: string) => userEvent.click(screen.getByRole("button", { name }));

it("console_059_a_value_is_staged_only_after_it_was_chosen_and_asked_about_before_the_window_closes", async () => {
  const { onClose, onStageSelected } = open();
  expect(screen.getByRole("button", { name: "Stage" })).toBeDisabled();
  // Chosen by a button, without a letter typed.
  await press("NULL");
  await userEvent.keyboard("{Escape}");
  expect(await screen.findByText("Discard what you typed?")).toBeVisible();
  expect(onClose).not.toHaveBeenCalled();
  await press("Cancel");
  await press("Stage");

  await waitFor(() => expect(onClose).toHaveBeenCalledOnce());
  expect(onStageSelected).toHaveBeenCalledWith({ note: { value: null } });
});
