import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { act, render, screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { MemoryRouter } from "react-router";
import { afterEach, expect, it, vi } from "vitest";
import { catalogQuery } from "@/api/catalog";
import type { Catalog } from "@/api/catalog-model";
import { sessionQuery } from "@/api/session";
import { Advisors } from "./advisors";
import type { Advice } from "./api";

afterEach(() => vi.unstubAllGlobals());

const makeCatalog = (version: string): Catalog => ({
  version,
  schemas: [],
  tables: [],
  tablesByOid: new Map(),
  foreignKeys: [],
  enums: [],
  roles: [],
  functions: [],
});

const finding = {
  name: "rls_disabled_in_public",
  level: "error",
  title: "Row-level security is off",
  why: "Everybody can read it.",
  object: { schema: "public", name: "open_table", kind: "table" },
  fix: null,
  key: "k",
} as const;

/** What the advisors answer, how often they were asked, and the cache of the page. */
let advice: Advice;
let asked: number;
let client: QueryClient;

function open(address = "/"): void {
  asked = 0;
  vi.stubGlobal("fetch", async (url: string) => {
    // The catalog, which is asked for after a second, comes from the test.
    if (url !== "/api/advisors") return new Promise<Response>(() => undefined);
    asked += 1;
    return new Response(JSON.stringify(advice));
  });
  client = new QueryClient();
  client.setQueryData(sessionQuery.queryKey, {
    mode: "start",
    login: false,
    project: { name: "p" },
    version: "1",
    schema_changes: true,
  });
  client.setQueryData(catalogQuery.queryKey, makeCatalog("1"));
  render(
    <QueryClientProvider client={client}>
      <MemoryRouter initialEntries={[address]}>
        <Advisors />
      </MemoryRouter>
    </QueryClientProvider>,
  );
}

/** Somebody else has mended what was found. */
async function mendElsewhere(): Promise<void> {
  advice = { findings: [], muted: [] };
  act(() => client.setQueryData(catalogQuery.queryKey, makeCatalog("2")));
  await screen.findByText("The advisors have nothing to complain about.");
}

it("console_042_a_finding_disappears_when_the_catalog_shows_its_fix", async () => {
  advice = { findings: [finding], muted: [] };
  open();
  await screen.findByText("Row-level security is off");
  expect(asked).toBe(1);

  await mendElsewhere();
  expect(asked).toBe(2);
});

it("console_031_the_fix_that_is_edited_stays_when_its_finding_has_gone", async () => {
  const fix = "alter table open_table enable row level security";
  advice = { findings: [{ ...finding, fix }], muted: [] };
  open(`/?advice=${finding.name}`);
  await userEvent.click(await screen.findByRole("button", { name: "Fix as migration" }));
  const name = await screen.findByLabelText("Name of the migration");
  await userEvent.clear(name);
  await userEvent.type(name, "close the table");

  await mendElsewhere();
  expect(screen.getByLabelText("Name of the migration")).toHaveValue("close the table");
});
