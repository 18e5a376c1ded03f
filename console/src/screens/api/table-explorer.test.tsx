import { screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { makeColumn } from "@/testing/columns";
import { renderConsole } from "@/testing/render";
import { makeTable } from "@/testing/tables";
import { TableExplorer } from "./table-explorer";

const table = makeTable({ columns: [makeColumn("id"), makeColumn("note")] });

beforeEach(() => {
  vi.stubGlobal("fetch", () => new Promise(() => {}));
});
afterEach(() => vi.unstubAllGlobals());

const isUnloadAsked = () => !window.dispatchEvent(new Event("beforeunload", { cancelable: true }));

it("console_031_a_request_of_the_explorer_is_there_again_after_another_screen", async () => {
  const first = renderConsole(<TableExplorer table={table} />);
  await userEvent.type(screen.getByLabelText("Columns"), "id,note");
  expect(isUnloadAsked()).toBe(true);
  first.unmount();
  // It is kept for this screen, and a reload would take it from any other.
  expect(isUnloadAsked()).toBe(true);

  const other = renderConsole(<TableExplorer table={{ ...table, oid: "77" }} />);
  expect(screen.getByLabelText("Columns")).toHaveValue("");
  other.unmount();
  renderConsole(<TableExplorer table={table} />);
  expect(screen.getByLabelText("Columns")).toHaveValue("id,note");
});
