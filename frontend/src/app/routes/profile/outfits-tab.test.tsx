import { screen } from "@testing-library/react";
import { expect, it, vi } from "vitest";
import { renderAt } from "@/testing/render";
import { OutfitsTab } from "./outfits-tab";

it("one button leads from an empty list to the wizard", async () => {
  vi.stubGlobal("fetch", async () => Response.json([], { headers: { "content-range": "*/0" } }));
  renderAt("/profile?tab=outfits", <OutfitsTab userId="u" list="outfits" />);

  expect(await screen.findByText("You haven't created any outfits yet.")).toBeVisible();
  const links = screen.getAllByRole("link").filter((link) => /create-outfit/.test(link.outerHTML));
  expect(links.map(({ textContent }) => textContent)).toEqual(["Create Your First Outfit"]);
});
