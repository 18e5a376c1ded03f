import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { render, screen } from "@testing-library/react";
import { MemoryRouter } from "react-router";
import { expect, it } from "vitest";
import { sizesQuery } from "./api";
import { SizesSection } from "./sizes";

it("console_040_a_table_whose_rows_other_nodes_store_has_no_invented_size", () => {
  const client = new QueryClient();
  const unknown = { bytes: null, index_bytes: null, rows: null };
  client.setQueryData(sizesQuery.queryKey, {
    database_bytes: 9_000_000,
    storage_bytes: null,
    tables: [
      { schema: "public", name: "elsewhere", ...unknown },
      { schema: "public", name: "here", bytes: 2_000_000, index_bytes: 1_000_000, rows: 7 },
    ],
  });
  render(
    <QueryClientProvider client={client}>
      <MemoryRouter>
        <SizesSection />
      </MemoryRouter>
    </QueryClientProvider>,
  );
  const lines = screen.getAllByRole("listitem").map(({ textContent }) => textContent);
  expect(lines).toEqual(["here≈ 7 rows3.0 MB", "elsewhere?"]);
  expect(screen.getByText("?").title).toContain("Other nodes store rows of this table");
});
