import { act, screen, waitFor } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { expect, it, vi } from "vitest";
import { EditDialog } from "@/components/admin/edit-dialog";
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
