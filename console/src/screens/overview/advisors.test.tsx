import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { act, render, screen } from "@testing-library/react";
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

it("console_042_a_finding_disappears_when_the_catalog_shows_its_fix", async () => {
  let advice: Advice = { findings: [finding], muted: [] };
  let asked = 0;
  vi.stubGlobal("fetch", async (url: string) => {
    // The catalog, which is asked for after a second, comes from the test.
    if (url !== "/api/advisors") return new Promise<Response>(() => undefined);
    asked += 1;
    return new Response(JSON.stringify(advice));
  });
  const client = new QueryClient();
  client.setQueryData(sessionQuery.queryKey, {
    mode: "start",
    login: false,
    project: { name: "p" },
    version: "1",
  });
  client.setQueryData(catalogQuery.queryKey, makeCatalog("1"));
  render(
    <QueryClientProvider client={client}>
      <MemoryRouter>
        <Advisors />
      </MemoryRouter>
    </QueryClientProvider>,
  );
  await screen.findByText("Row-level security is off");
  expect(asked).toBe(1);

  advice = { findings: [], muted: [] };
  act(() => client.setQueryData(catalogQuery.queryKey, makeCatalog("2")));

  await screen.findByText("The advisors have nothing to complain about.");
  expect(asked).toBe(2);
});
