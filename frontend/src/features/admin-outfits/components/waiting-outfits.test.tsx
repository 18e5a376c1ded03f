import { screen } from "@testing-library/react";
import { expect, it, vi } from "vitest";
import { renderAt } from "@/testing/render";
import { WaitingOutfits } from "./waiting-outfits";

const row = {
  id: "00000000-0000-4000-8000-000000000001",
  name: "Summer Look",
  main_image: null,
  status: "pending",
  created_at: "2026-01-01T12:00:00Z",
  creator_username: "mira",
  creator_full_name: null,
  total: 1,
};

it("leads to the review of the outfits that have waited longest", async () => {
  const asked: string[] = [];
  vi.stubGlobal("fetch", async (_: RequestInfo | URL, init?: RequestInit) => {
    asked.push(String(init?.body));
    return Response.json([row]);
  });
  renderAt("/admin/dashboard", <WaitingOutfits />);

  const link = await screen.findByRole("link", { name: /Summer Look/ });
  expect(link).toHaveAttribute("href", `/admin/combines?status=pending&row=${row.id}`);
  expect(link).toHaveTextContent("mira · Jan 1, 2026");
  expect(JSON.parse(asked[0] ?? "")).toMatchObject({
    ascending: true,
    sort: "created_at",
    review_status: "pending",
    max_results: 6,
  });
});

it("takes no room where none waits", async () => {
  const asked = vi.fn(async () => Response.json([]));
  vi.stubGlobal("fetch", asked);
  const { container } = renderAt("/admin/dashboard", <WaitingOutfits />);

  await vi.waitFor(() => expect(asked).toHaveBeenCalled());
  expect(container.querySelector("section")).toBeNull();
});
