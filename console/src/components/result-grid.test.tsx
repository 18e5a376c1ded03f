import { fireEvent, screen, waitFor } from "@testing-library/react";
import { afterEach, expect, it, vi } from "vitest";
import { toast } from "@/lib/toast";
import { renderConsole } from "@/testing/render";
import { ResultGrid } from "./result-grid";

vi.mock("@/lib/toast", () => ({ toast: vi.fn() }));

afterEach(() => {
  vi.mocked(toast).mockClear();
  vi.unstubAllGlobals();
});

/** Copies the cell with a keyboard that has no Latin letters. */
function copy(clipboard: Partial<Clipboard> | undefined): void {
  vi.stubGlobal("navigator", { ...navigator, clipboard });
  renderConsole(
    <ResultGrid
      label="Rows"
      columns={[{ name: "note", type: "text" }]}
      rows={[[null]]}
      rowCount={1}
    />,
  );
  fireEvent.keyDown(screen.getByRole("grid"), { key: "с", code: "KeyC", ctrlKey: true });
}

it("console_034_a_null_that_is_copied_says_so_also_by_a_keyboard_without_latin_letters", async () => {
  const writeText = vi.fn(async () => undefined);
  copy({ writeText });

  expect(writeText).toHaveBeenCalledWith("");
  await waitFor(() =>
    expect(toast).toHaveBeenCalledWith({ title: "NULL was copied as an empty text" }),
  );
});

it("console_034_a_cell_that_the_browser_does_not_copy_is_not_called_copied", async () => {
  // Browsers have no clipboard where the page came by http from another machine.
  copy(undefined);

  await waitFor(() =>
    expect(toast).toHaveBeenCalledWith(
      expect.objectContaining({ title: "The browser did not allow copying" }),
    ),
  );
  expect(toast).toHaveBeenCalledTimes(1);
});
