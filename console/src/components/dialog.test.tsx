import { render, screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { expect, it, vi } from "vitest";
import { Dialog } from "./dialog";

function open(content: React.ReactNode, isDirty?: boolean) {
  const close = vi.fn();
  render(
    <Dialog title="New thing" onClose={close} isDirty={isDirty}>
      {content}
    </Dialog>,
  );
  return close;
}

it("console_031_escape_asks_before_typed_text_is_lost", async () => {
  const close = open(<input aria-label="Name" />);
  await userEvent.type(screen.getByLabelText("Name"), "garments");
  await userEvent.keyboard("{Escape}");

  expect(close).not.toHaveBeenCalled();
  expect(await screen.findByText("Discard what you typed?")).toBeVisible();
  await userEvent.click(screen.getByRole("button", { name: "Cancel" }));
  expect(screen.getByLabelText("Name")).toHaveValue("garments");

  await userEvent.keyboard("{Escape}");
  await userEvent.click(await screen.findByRole("button", { name: "Discard" }));
  expect(close).toHaveBeenCalledOnce();
});

it("console_031_the_cross_asks_too_and_nothing_is_asked_where_nothing_is_lost", async () => {
  const close = open(<input type="search" aria-label="Search" />);
  await userEvent.type(screen.getByLabelText("Search"), "x");
  await userEvent.click(screen.getByRole("button", { name: "Close" }));
  expect(close).toHaveBeenCalledOnce();
});

it("console_031_a_dialog_that_knows_better_is_believed", async () => {
  const close = open(<input aria-label="Name" />, false);
  await userEvent.type(screen.getByLabelText("Name"), "x");
  await userEvent.keyboard("{Escape}");
  expect(close).toHaveBeenCalledOnce();
});
