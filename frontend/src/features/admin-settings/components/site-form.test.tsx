import { act, screen, waitFor, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { askBeforeLeaving } from "@ui/typed-forms";
import { useState } from "react";
import { beforeEach, expect, it, vi } from "vitest";
import { renderAt } from "@/testing/render";
import { SiteForm } from "./site-form";

const settings = {
  version: 1,
  site_name: "Lookbook",
  registration_open: true,
  review_required: true,
};
let stored: typeof settings;
let updates: unknown[];

beforeEach(() => {
  stored = settings;
  updates = [];
  vi.stubGlobal("fetch", async (_: RequestInfo | URL, init?: RequestInit) => {
    if (init?.method !== "PATCH") return Response.json(stored);
    const { version, ...changes } = JSON.parse(String(init.body));
    if (version !== stored.version) {
      const details = JSON.stringify({ version: stored.version });
      return Response.json({ code: "PT409", message: "Changed.", details }, { status: 409 });
    }
    updates.push(changes);
    stored = { ...stored, ...changes, version: version + 1 };
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
  stored = { ...settings, version: 2, site_name: "Closet" };
  await userEvent.click(screen.getByRole("button", { name: "Read anew" }));
  expect(name).toHaveValue("Wardrobe");

  await userEvent.click(screen.getByRole("button", { name: "Save" }));
  const question = await screen.findByRole("alertdialog");
  expect(question).toHaveTextContent("YoursWardrobeTheirsCloset");
  expect(updates).toEqual([]);
  await userEvent.click(within(question).getByRole("button", { name: "Save" }));
  await waitFor(() => expect(updates).toEqual([{ site_name: "Wardrobe" }]));
  // Undo, here or elsewhere, is followed again.
  await userEvent.click(screen.getByRole("button", { name: "Read anew" }));
  stored = { ...settings, version: stored.version + 1 };
  await userEvent.click(screen.getByRole("button", { name: "Read anew" }));
  await waitFor(() => expect(name).toHaveValue("Lookbook"));
});

it("asks before a typed name is left, by a link, Back or a reload", async () => {
  renderAt("/", <Page />);
  const name = await screen.findByLabelText("Site name");
  const isRefused = () => !window.dispatchEvent(new Event("beforeunload", { cancelable: true }));
  expect(isRefused()).toBe(false);
  await userEvent.type(name, " of Mira");
  expect(isRefused()).toBe(true);

  const leave = vi.fn();
  const [from, to] = ["/admin/settings", "/"].map((pathname) => ({ pathname, search: "" }));
  if (from === undefined || to === undefined) return;
  const go = () => act(() => void askBeforeLeaving({ from, to, isHistory: true }, leave));
  go();
  await userEvent.click(await screen.findByRole("button", { name: "Cancel" }));
  expect(name).toHaveValue("Lookbook of Mira");
  expect(leave).not.toHaveBeenCalled();
  go();
  await userEvent.click(await screen.findByRole("button", { name: "Discard" }));
  expect(leave).toHaveBeenCalledOnce();
});
