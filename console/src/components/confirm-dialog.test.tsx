import { render, screen, waitFor } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { useState } from "react";
import { expect, it, vi } from "vitest";
import { ConfirmDialog } from "./confirm-dialog";
import { ScreenFrame } from "./screen-layout";

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

function Table() {
  const [isAsking, setAsking] = useState(false);
  const [isRunning, setRunning] = useState(false);
  return (
    <ScreenFrame isListShown={false}>
      <button type="button" disabled={isRunning} onClick={() => setAsking(true)}>
        Drop table
      </button>
      {isAsking && (
        <ConfirmDialog
          title="Drop it?"
          text="It is gone then."
          confirmLabel="Drop"
          onConfirm={() => {
            setRunning(true);
            setAsking(false);
          }}
          onClose={() => setAsking(false)}
        />
      )}
    </ScreenFrame>
  );
}

it("console_002_the_focus_is_on_the_screen_while_the_button_that_asked_is_disabled", async () => {
  render(<Table />);
  await userEvent.click(screen.getByRole("button", { name: "Drop table" }));
  await userEvent.click(await screen.findByRole("button", { name: "Drop" }));

  await waitFor(() => expect(screen.getByRole("main")).toHaveFocus());
});
