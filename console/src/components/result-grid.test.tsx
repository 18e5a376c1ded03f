import { fireEvent, screen } from "@testing-library/react";
import { expect, it, vi } from "vitest";
import { toast } from "@/lib/toast";
import { renderConsole } from "@/testing/render";
import { ResultGrid } from "./result-grid";

vi.mock("@/lib/toast", () => ({ toast: vi.fn() }));

it("console_034_a_null_that_is_copied_says_so_also_by_a_keyboard_without_latin_letters", async () => {
  const writeText = vi.fn(async () => undefined);
  vi.stubGlobal("navigator", { ...navigator, clipboard: { writeText } });
  renderConsole(
    <ResultGrid
      label="Rows"
      columns={[{ name: "note", type: "text" }]}
      rows={[[null]]}
      rowCount={1}
    />,
  );

  fireEvent.keyDown(screen.getByRole("grid"), { key: "с", code: "KeyC", ctrlKey: true });

  expect(writeText).toHaveBeenCalledWith("");
  expect(toast).toHaveBeenCalledWith({ title: "NULL was copied as an empty text" });
  vi.unstubAllGlobals();
});
