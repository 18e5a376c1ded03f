import { act, fireEvent, screen, waitFor } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { expect, it, vi } from "vitest";
import { EditDialog } from "@/components/admin/edit-dialog";
import { SearchableSelect } from "@/components/admin/searchable-select";
import { toast } from "@/lib/toast";
import { renderAt } from "@/testing/render";

it("one press of Escape closes the window and the notices above it", async () => {
  const onClose = vi.fn();
  renderAt(
    "/",
    <EditDialog title="Edit" isDirty={false} onClose={onClose}>
      <input aria-label="Name" />
    </EditDialog>,
  );
  await userEvent.click(await screen.findByLabelText("Name"));
  act(() => toast("Saved"));
  expect(await screen.findByText("Saved")).toBeVisible();
  await userEvent.keyboard("{Escape}");

  await waitFor(() => expect(onClose).toHaveBeenCalledOnce());
  expect(screen.queryByText("Saved")).not.toBeInTheDocument();
});

it("one press of Escape closes an open list and the notices, and leaves the window", async () => {
  const onClose = vi.fn();
  const rows = Array.from({ length: 51 }, (_, at) => ({ id: `b${at}`, name: `Brand ${at}` }));
  renderAt(
    "/",
    <EditDialog title="Edit" isDirty={false} onClose={onClose}>
      <SearchableSelect prompt="Brand" rows={rows} value="" onChange={() => undefined} />
    </EditDialog>,
  );
  const field = await screen.findByPlaceholderText("Brand");
  await userEvent.click(field);
  act(() => toast("Saved"));
  expect(await screen.findByText("Saved")).toBeVisible();
  // An input method drops its word, and nothing else.
  fireEvent.keyDown(field, { key: "Escape", isComposing: true });
  expect(screen.getByText("Saved")).toBeVisible();
  expect(field).toHaveAttribute("aria-expanded", "true");
  await userEvent.keyboard("{Escape}");

  await waitFor(() => expect(screen.queryByText("Saved")).not.toBeInTheDocument());
  expect(field).toHaveAttribute("aria-expanded", "false");
  // A second Escape would come after the timers that are due now.
  await act(() => new Promise((resolve) => setTimeout(resolve, 5)));
  expect(onClose).not.toHaveBeenCalled();
});
