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

it("console_100_an_answer_is_not_taken_for_that_of_another_request", async () => {
  vi.stubGlobal("fetch", async () => Response.json([{ id: "1" }]));
  renderConsole(<TableExplorer table={{ ...table, oid: "78" }} />);
  await userEvent.click(screen.getByRole("button", { name: /^Send(?! as)/ }));
  await screen.findByRole("region", { name: "Answer" });
  expect(screen.queryByText(/what was asked before/)).toBeNull();

  await userEvent.type(screen.getByLabelText("Columns"), "id");
  expect(screen.getByText(/what was asked before/)).toBeVisible();
});
