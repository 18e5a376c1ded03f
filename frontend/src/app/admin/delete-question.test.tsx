import { act, screen, waitFor } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { afterEach, expect, it, vi } from "vitest";
import { BrandSection } from "@/features/admin-brands/components/brand-section";
import { ItemSection } from "@/features/admin-items/components/item-section";
import { renderAt } from "@/testing/render";

afterEach(() => vi.unstubAllGlobals());

const row = (id: string, name: string) => ({
  id: `00000000-0000-4000-8000-00000000000${id}`,
  version: 1,
  name,
  slug: name.toLowerCase(),
  created_at: "2026-01-01T00:00:00Z",
  colors: [],
  logo: null,
  image: null,
  gender: "women",
  price: 1,
  brand: { name: "Maison" },
  items: [{ count: 0 }],
});

it.each([
  ["brands", <BrandSection key="brands" />],
  ["items", <ItemSection key="items" />],
])(
  "the answer about a deletion of %s does not close the question about another row",
  async (_, section) => {
    let answer = () => {};
    let isDeleted = false;
    vi.stubGlobal("fetch", async (_url: RequestInfo | URL, init?: RequestInit) => {
      if (init?.method === "DELETE") {
        await new Promise<void>((resolve) => {
          answer = resolve;
        });
        isDeleted = true;
        return Response.json([{ id: row("1", "").id }]);
      }
      const rows = [row("1", "Alba"), row("2", "Bora")];
      return Response.json(rows, { headers: { "content-range": "0-1/2" } });
    });
    renderAt("/", section);
    const press = async (name: string) => {
      // By a key: a quick pointer that never moves makes a double click of it.
      (await screen.findByRole("button", { name })).focus();
      await userEvent.keyboard("{Enter}");
    };
    await press("Delete Alba");
    await press("Delete");
    await press("Cancel");
    await press("Delete Bora");
    expect(await screen.findByText("Delete Bora?")).toBeVisible();
    answer();
    await waitFor(() => expect(isDeleted).toBe(true));
    await act(async () => {});

    expect(await screen.findByText(/deleted$/)).toBeVisible();
    expect(screen.getByText("Delete Bora?")).toBeVisible();
    await waitFor(() => expect(screen.getByRole("button", { name: "Delete" })).toBeEnabled());
  },
);
