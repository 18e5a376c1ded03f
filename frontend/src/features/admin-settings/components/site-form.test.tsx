import { screen, waitFor } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { useState } from "react";
import { beforeEach, expect, it, vi } from "vitest";
import { renderAt } from "@/testing/render";
import { SiteForm } from "./site-form";

const settings = { site_name: "Lookbook", registration_open: true, review_required: true };
let stored: typeof settings;
let updates: unknown[];

beforeEach(() => {
  stored = settings;
  updates = [];
  vi.stubGlobal("fetch", async (_: RequestInfo | URL, init?: RequestInit) => {
    if (init?.method !== "PATCH") return Response.json(stored);
    updates.push(JSON.parse(String(init.body)));
    stored = { ...stored, ...JSON.parse(String(init.body)) };
    return Response.json([stored]);
  });
});

function Page() {
  const [shown, setShown] = useState(settings);
  return (
    <>
      <SiteForm settings={shown} />
      <button type="button" onClick={() => setShown(stored)}>
        Read anew
      </button>
    </>
  );
}

it("keeps a typed name when another administrator renames the site, and asks before it replaces that", async () => {
  renderAt("/", <Page />);
  const name = await screen.findByLabelText("Site name");
  await userEvent.clear(name);
  await userEvent.type(name, "Wardrobe");
  stored = { ...settings, site_name: "Closet" };
  await userEvent.click(screen.getByRole("button", { name: "Read anew" }));
  expect(name).toHaveValue("Wardrobe");

  await userEvent.click(screen.getByRole("button", { name: "Save" }));
  expect(await screen.findByText(/Site name \(now “Closet”\)/)).toBeVisible();
  expect(updates).toEqual([]);
  await userEvent.click(screen.getByRole("button", { name: "Save" }));
  await waitFor(() => expect(updates).toEqual([{ site_name: "Wardrobe" }]));
  // Undo, here or elsewhere, is followed again.
  await userEvent.click(screen.getByRole("button", { name: "Read anew" }));
  stored = settings;
  await userEvent.click(screen.getByRole("button", { name: "Read anew" }));
  await waitFor(() => expect(name).toHaveValue("Lookbook"));
});
