import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { fireEvent, render, screen, waitFor } from "@testing-library/react";
import { MemoryRouter, useLocation } from "react-router";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import type { Catalog } from "@/api/catalog-model";
import { makeTable } from "@/testing/tables";
import { TableList } from "./table-list";

const catalog: Catalog = {
  version: "1",
  schemas: [{ name: "public", exposed: true }],
  tables: [makeTable({ oid: "1", name: "garments" }), makeTable({ oid: "2", name: "makers" })],
  tablesByOid: new Map(),
  foreignKeys: [],
  enums: [],
  roles: [],
  functions: [],
};

/** Answers of the server that a test gives when it wants to, by the table's oid. */
const answers = new Map<string, () => void>();

beforeEach(() => {
  vi.stubGlobal("fetch", (_: string, init: RequestInit) => {
    const { table } = JSON.parse(String(init.body)) as { table: string };
    return new Promise<Response>((answer) => {
      answers.set(table, () => answer(new Response('{"rows":[],"next":null,"previous":null}')));
    });
  });
});

afterEach(() => {
  vi.unstubAllGlobals();
  vi.useRealTimers();
  answers.clear();
});

const Address = () => <output>{useLocation().pathname}</output>;

function openList() {
  return render(
    <QueryClientProvider client={new QueryClient()}>
      <MemoryRouter initialEntries={["/tables"]}>
        <TableList catalog={catalog} current={undefined} schema="public" onSchema={() => {}} />
        <Address />
      </MemoryRouter>
    </QueryClientProvider>,
  );
}

const address = () => screen.getByRole("status").textContent;

it("console_152_a_table_is_opened_when_its_first_rows_are_there", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  openList();
  fireEvent.click(screen.getByRole("link", { name: /garments/ }));
  expect(address()).toBe("/tables");

  answers.get("1")?.();
  vi.useRealTimers();

  await waitFor(() => expect(address()).toBe("/tables/public/garments"));
});

it("console_152_rows_that_take_long_are_not_waited_for", async () => {
  openList();
  fireEvent.click(screen.getByRole("link", { name: /garments/ }));
  await waitFor(() => expect(address()).toBe("/tables/public/garments"));
  expect(answers.has("1")).toBe(true);
});

it("console_152_of_two_clicked_tables_the_last_one_is_opened", async () => {
  openList();
  fireEvent.click(screen.getByRole("link", { name: /garments/ }));
  fireEvent.click(screen.getByRole("link", { name: /makers/ }));
  answers.get("2")?.();
  await waitFor(() => expect(address()).toBe("/tables/public/makers"));
  answers.get("1")?.();
  await new Promise((wake) => setTimeout(wake, 150));
  expect(address()).toBe("/tables/public/makers");
});

it("console_002_a_click_for_another_tab_is_left_to_the_browser", () => {
  openList();
  const wasLeft = fireEvent.click(screen.getByRole("link", { name: /garments/ }), {
    ctrlKey: true,
  });
  expect(wasLeft).toBe(true);
  expect(answers.size).toBe(0);
});
