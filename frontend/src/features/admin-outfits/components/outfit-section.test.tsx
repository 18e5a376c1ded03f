import { screen, waitFor, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { expect, it, vi } from "vitest";
import { storeSession } from "@/testing/fake-session";
import { renderAt } from "@/testing/render";
import { forgetReasons } from "../api/unsaved-reasons";
import { OutfitSection } from "./outfit-section";

const row = {
  id: "00000000-0000-4000-8000-000000000001",
  version: 1,
  name: "Summer Look",
  slug: "summer-look",
  description: null,
  meta_description: null,
  main_image: null,
  image_alt: null,
  gender: "women",
  item_ids: [],
  outfit_styles: [],
  colors: [],
  status: "pending",
  rejection_reason: null,
  created_by_admin: false,
  created_at: "2026-01-01T00:00:00Z",
  updated_at: "2026-01-01T00:00:00Z",
  user_id: null,
  creator_username: "mira",
  creator_full_name: null,
  total: 1,
};

it("keeps the reason of outfits that were changed meanwhile, and calls none of them rejected", async () => {
  vi.stubGlobal("fetch", async (input: RequestInfo | URL) => {
    const url = String(input);
    if (url.includes("/list_outfits")) return Response.json([row]);
    if (url.includes("/review_combines")) {
      return Response.json([{ combine_id: row.id, error: "changed" }]);
    }
    return Response.json([]);
  });
  renderAt("/admin/combines", <OutfitSection />);
  const rejectTicked = async () => {
    await userEvent.click(await screen.findByRole("checkbox", { name: /Summer Look/ }));
    await userEvent.click(screen.getByRole("button", { name: "Reject selected" }));
  };
  await rejectTicked();
  await userEvent.type(await screen.findByLabelText("Reason (optional)"), "Blurred");
  const question = screen.getByRole("alertdialog");
  await userEvent.click(within(question).getByRole("button", { name: "Reject" }));
  expect(await screen.findByText(/1 outfit was changed/)).toBeVisible();
  expect(screen.queryByText("0 rejected")).not.toBeInTheDocument();
  await waitFor(() => expect(screen.queryByRole("alertdialog")).not.toBeInTheDocument());

  await rejectTicked();
  expect(await screen.findByLabelText("Reason (optional)")).toHaveValue("Blurred");
});

it("asks before a reload about a reason that was typed, until its outfit is decided about", async () => {
  storeSession("00000000-0000-4000-8000-000000000009");
  const isAsked = () => !window.dispatchEvent(new Event("beforeunload", { cancelable: true }));
  const id = "00000000-0000-4000-8000-000000000002";
  vi.stubGlobal("fetch", async (input: RequestInfo | URL) =>
    Response.json(String(input).includes("/list_outfits") ? [{ ...row, id, name: "Night" }] : []),
  );
  renderAt("/admin/combines", <OutfitSection />);
  forgetReasons([row.id]);
  await userEvent.click(await screen.findByRole("button", { name: "Reject Night" }));
  await userEvent.type(await screen.findByLabelText("Reason (optional)"), "Blurred");
  const question = screen.getByRole("alertdialog");
  await userEvent.click(within(question).getByRole("button", { name: "Cancel" }));
  expect(isAsked()).toBe(true);

  // By a key: a pointer that is quick, and never moves here, would make a double click of it.
  screen.getByRole("button", { name: "Approve Night" }).focus();
  await userEvent.keyboard("{Enter}");
  expect(await screen.findByText("Combine Approved")).toBeVisible();
  expect(isAsked()).toBe(false);
});

it("does not ask before a reload about an outfit that a colleague has decided about, and that the list of those that wait shows no more", async () => {
  storeSession("00000000-0000-4000-8000-000000000009");
  const isAsked = () => !window.dispatchEvent(new Event("beforeunload", { cancelable: true }));
  const id = "00000000-0000-4000-8000-000000000003";
  let waiting = [{ ...row, id, name: "Dawn" }];
  vi.stubGlobal("fetch", async (input: RequestInfo | URL) => {
    const url = String(input);
    if (url.includes("/review_combine")) {
      waiting = [];
      const message = "The outfit has changed. Look at it again.";
      return Response.json({ code: "PT409", message }, { status: 409 });
    }
    if (url.includes("/list_outfits")) return Response.json(waiting);
    return Response.json(
      url.includes("/combines?") ? waiting.map(({ id, status }) => ({ id, status })) : [],
    );
  });
  renderAt("/admin/combines?status=pending", <OutfitSection />);
  // By a key: a quick pointer that never moves makes a double click of it.
  (await screen.findByRole("button", { name: "Reject Dawn" })).focus();
  await userEvent.keyboard("{Enter}");
  await userEvent.type(await screen.findByLabelText("Reason (optional)"), "Blurred");
  expect(isAsked()).toBe(true);
  const question = screen.getByRole("alertdialog");
  await userEvent.click(within(question).getByRole("button", { name: "Reject" }));

  expect(await screen.findByText(/Look at it again/)).toBeVisible();
  await waitFor(() => expect(isAsked()).toBe(false));
});

it("takes no letters for a reason that is on its way", async () => {
  const id = "00000000-0000-4000-8000-000000000004";
  let answer = () => {};
  vi.stubGlobal("fetch", async (input: RequestInfo | URL) => {
    const url = String(input);
    if (url.includes("/review_combine")) {
      await new Promise<void>((resolve) => {
        answer = resolve;
      });
    }
    return Response.json(url.includes("/list_outfits") ? [{ ...row, id, name: "Noon" }] : []);
  });
  renderAt("/admin/combines", <OutfitSection />);
  // By a key: a quick pointer that never moves makes a double click of it.
  (await screen.findByRole("button", { name: "Reject Noon" })).focus();
  await userEvent.keyboard("{Enter}");
  const reason = await screen.findByLabelText("Reason (optional)");
  await userEvent.type(reason, "Blurred");
  const question = screen.getByRole("alertdialog");
  await userEvent.click(within(question).getByRole("button", { name: "Reject" }));
  await userEvent.type(reason, ", and dark");
  expect(reason).toHaveValue("Blurred");
  answer();
  await waitFor(() => expect(screen.queryByRole("alertdialog")).not.toBeInTheDocument());
});

it("narrows by gender, and by the creator of a row until that is taken back", async () => {
  const asked: Record<string, unknown>[] = [];
  const creator = "00000000-0000-4000-8000-000000000007";
  vi.stubGlobal("fetch", async (input: RequestInfo | URL, init?: RequestInit) => {
    if (!String(input).includes("/list_outfits")) return Response.json([]);
    asked.push(JSON.parse(String(init?.body)));
    return Response.json([{ ...row, user_id: creator }]);
  });
  renderAt("/admin/combines", <OutfitSection />);

  await userEvent.selectOptions(await screen.findByLabelText("Gender"), "women");
  await waitFor(() => expect(asked.at(-1)).toMatchObject({ outfit_gender: "women" }));
  await userEvent.click(await screen.findByRole("button", { name: "Outfits of mira" }));
  await waitFor(() => expect(asked.at(-1)).toMatchObject({ creator }));
  await userEvent.click(await screen.findByRole("button", { name: /^Of mira/ }));
  await waitFor(() =>
    expect(screen.queryByRole("button", { name: /^Of mira/ })).not.toBeInTheDocument(),
  );
});
