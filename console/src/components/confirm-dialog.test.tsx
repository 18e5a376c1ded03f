import { render, screen, waitFor } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { expect, it, vi } from "vitest";
import { ConfirmDialog } from "./confirm-dialog";

function open(typedName?: string) {
  const close = vi.fn();
  render(
    <ConfirmDialog
      title="Drop it?"
      text="It is gone then."
      confirmLabel="Drop"
      typedName={typedName}
      onConfirm={vi.fn()}
      onClose={close}
    />,
  );
  return close;
}

it("console_002_a_name_that_has_to_be_typed_can_be_typed_at_once", async () => {
  const close = open("my table");
  const field = screen.getByRole("textbox");
  await waitFor(() => expect(field).toHaveFocus());
  await userEvent.keyboard("my table");

  expect(field).toHaveValue("my table");
  expect(close).not.toHaveBeenCalled();
});

it("console_002_without_a_field_the_focus_is_on_cancel", async () => {
  open();
  await waitFor(() => expect(screen.getByRole("button", { name: "Cancel" })).toHaveFocus());
});
