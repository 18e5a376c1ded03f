import { act, screen, waitFor, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { Route, Routes } from "react-router";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { catalogQuery } from "@/api/catalog";
import { makeCatalog, makeColumn } from "@/testing/columns";
import { renderConsole } from "@/testing/render";
import { makeTable } from "@/testing/tables";
import { TableScreen } from "./table-screen";

const policy = {
  oid: "1",
  schema: "public",
  table: "items",
  name: "own rows",
  command: "all",
  permissive: true,
  roles: ["authenticated"],
  using: "true",
  check: "",
};

beforeEach(() => {
  vi.stubGlobal("fetch", async (path: string) =>
    path.startsWith("/api/objects/policies")
      ? Response.json({ objects: [policy] })
      : new Promise(() => {}),
  );
});
afterEach(() => vi.unstubAllGlobals());

async function chooseTemplate() {
  await userEvent.click(screen.getByRole("button", { name: "New policy" }));
  const [template] = await screen.findAllByRole("menuitem");
  if (template !== undefined) await userEvent.click(template);
}

const nameOf = () => screen.getByLabelText<HTMLInputElement>("Name").value;

it("console_070_a_new_policy_is_no_change_of_the_one_that_was_edited", async () => {
  const { client } = renderConsole(
    <Routes>
      <Route path="/policies/:oid" element={<TableScreen />} />
    </Routes>,
    "/policies/9",
  );
  const table = makeTable({ columns: [makeColumn("id")], rights: "iudoto" });
  act(() => client.setQueryData(catalogQuery.queryKey, makeCatalog(table)));
  await userEvent.click(await screen.findByRole("button", { name: /^Edit/ }));
  expect(nameOf()).toBe("own rows");
  // Nothing was typed, so nothing is asked.
  await chooseTemplate();
  await waitFor(() => expect(nameOf()).not.toBe("own rows"));
  expect(screen.getByRole("heading", { name: "New policy" })).toBeVisible();

  await userEvent.type(screen.getByLabelText("Name"), " of mine");
  await chooseTemplate();
  expect(await screen.findByText("Discard what you typed?")).toBeVisible();
  await userEvent.click(screen.getByRole("button", { name: "Cancel" }));
  expect(nameOf()).toMatch(/ of mine$/);
});

it("console_070_enabling_row_level_security_leaves_the_policy_that_is_being_written", async () => {
  const preview = { sql: "", locks: [], rewrites: false, rows: 0, dropped: [], dependants: [] };
  vi.stubGlobal("fetch", async (path: string, init?: RequestInit) => {
    if (path.startsWith("/api/objects/policies")) return Response.json({ objects: [policy] });
    if (path.startsWith("/api/catalog")) {
      return Response.json({ code: "gone", message: "gone" }, { status: 400 });
    }
    return String(init?.body).includes('"preview":true')
      ? Response.json({ ...preview, notes: [] })
      : Response.json({ file: "migrations/1_x.sql", version: "1", notes: [] });
  });
  const { client } = renderConsole(
    <Routes>
      <Route path="/policies/:oid" element={<TableScreen />} />
    </Routes>,
    "/policies/9",
  );
  const table = makeTable({ columns: [makeColumn("id")], rights: "iudoto", rls: false });
  act(() => client.setQueryData(catalogQuery.queryKey, makeCatalog(table)));
  await userEvent.click(await screen.findByRole("button", { name: /^Edit/ }));
  await userEvent.type(screen.getByLabelText("Name"), " of mine");
  await userEvent.click(screen.getByRole("button", { name: "Enable RLS" }));
  const dialog = await screen.findByRole("dialog");
  const save = within(dialog).getByRole("button", { name: "Save as migration" });
  await waitFor(() => expect(save).toBeEnabled());
  await userEvent.click(save);

  await waitFor(() => expect(screen.queryByRole("dialog")).toBeNull());
  expect(nameOf()).toBe("own rows of mine");
});
