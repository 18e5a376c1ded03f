import { act, fireEvent, screen, waitFor } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { afterEach, expect, it, vi } from "vitest";
import { EditDialog } from "@/components/admin/edit-dialog";
import { SearchableSelect } from "@/components/admin/searchable-select";
import { currentToasts, dismissToast, toast } from "@/lib/toast";
import { renderAt } from "@/testing/render";

afterEach(() => act(() => currentToasts().forEach(({ id }) => void dismissToast(id))));

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

it("the button of a notice is reached by keyboard, and read aloud, above an open window", async () => {
  const onPress = vi.fn();
  renderAt(
    "/",
    <EditDialog title="Edit" isDirty={false} onClose={vi.fn()}>
      <input aria-label="Name" />
    </EditDialog>,
  );
  await userEvent.click(await screen.findByLabelText("Name"));
  act(() =>
    toast("Brand updated", undefined, "success", {
      label: "Undo",
      onPress,
      onMiss: () => undefined,
    }),
  );
  const undo = await screen.findByRole("button", { name: "Undo" });
  expect(undo.closest("[aria-hidden=true]")).toBeNull();
  fireEvent.keyDown(document.body, { key: "F8", code: "F8" });
  // The notice, then its button.
  await userEvent.tab();
  await userEvent.tab();
  expect(undo).toHaveFocus();
  await userEvent.keyboard("{Enter}");

  expect(onPress).toHaveBeenCalledOnce();
});

it.each([
  ["at the lower right when nothing is there", [], ""],
  ["at the left of a button at the lower right", [{ left: 1200, right: 1300 }], "1.5rem"],
  ["above where buttons are at both sides", [{ left: 20, right: 1300 }], ""],
])("notices stand %s", async (_, buttons, left) => {
  vi.spyOn(window, "matchMedia").mockReturnValue({ matches: true } as MediaQueryList);
  Object.assign(window, { innerWidth: 1440, innerHeight: 900 });
  renderAt(
    "/",
    <main>
      {buttons.map(({ left, right }) => (
        <button
          key={left}
          type="submit"
          ref={(element) => {
            if (element === null) return;
            element.getBoundingClientRect = () => new DOMRect(left, 800, right - left, 40);
          }}
        >
          Send
        </button>
      ))}
    </main>,
  );
  act(() => toast("Not sent"));
  const list = (await screen.findByText("Not sent")).closest(".notices") as HTMLElement;

  expect(list.style.left).toBe(left);
  expect(list.style.bottom).toBe(buttons[0]?.left === 20 ? "auto" : "");
});
