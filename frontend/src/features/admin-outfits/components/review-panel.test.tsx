import { createEvent, fireEvent, screen, waitFor, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { beforeEach, expect, it, vi } from "vitest";
import { renderAt } from "@/testing/render";
import type { AdminOutfit } from "../api/outfits";
import { ReviewPanel } from "./review-panel";

const outfit: AdminOutfit = {
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
  creator: { username: "mira", full_name: null },
};
/** Another creator's, of the same name. */
const other = { ...outfit, id: "00000000-0000-4000-8000-000000000002" };

/** Bodies of the decisions, and the status of their answers. */
let decisions: Record<string, unknown>[];
let status: number;

beforeEach(() => {
  decisions = [];
  status = 200;
  vi.stubGlobal("fetch", async (input: RequestInfo | URL, init?: RequestInit) => {
    if (!String(input).endsWith("/review_combine")) return Response.json([]);
    decisions.push(JSON.parse(String(init?.body)));
    if (status === 200) return Response.json({});
    return Response.json({ code: "", message: "Not now." }, { status });
  });
});

const closed = vi.fn();
const decided = vi.fn();
const stepped = vi.fn();
const show = (shown: AdminOutfit) =>
  renderAt(
    "/",
    <ReviewPanel
      outfit={shown}
      onEdit={() => undefined}
      onDelete={() => undefined}
      onClose={closed}
      onDecided={decided}
      onStep={stepped}
    />,
  );
const findReason = () => screen.findByLabelText("Reason (optional)");
const reject = () =>
  userEvent.click(within(screen.getByRole("alertdialog")).getByRole("button", { name: "Reject" }));

it("takes letters that follow the key for Reject as the reason, and as no decision", async () => {
  show(outfit);
  await screen.findByRole("button", { name: "Approve" });
  await userEvent.keyboard("r");
  const field = await findReason();
  await waitFor(() => expect(field).toHaveFocus());
  await userEvent.keyboard("Bad angle, retry");

  expect(field).toHaveValue("Bad angle, retry");
  expect(decisions).toEqual([]);
  await reject();
  await waitFor(() => expect(decided).toHaveBeenCalled());
  expect(decisions).toMatchObject([{ approve: false, reason: "Bad angle, retry" }]);
});

it("keeps the reason when the request fails, and does not show it for another outfit of the name", async () => {
  status = 503;
  const first = show(outfit);
  await userEvent.click(await screen.findByRole("button", { name: "Reject" }));
  await userEvent.type(await findReason(), "Blurred");
  await reject();
  expect(await screen.findByText("Failed to update combine status.")).toBeVisible();
  expect(await findReason()).toHaveValue("Blurred");
  expect(window.dispatchEvent(new Event("beforeunload", { cancelable: true }))).toBe(false);
  first.unmount();

  const second = show(other);
  await userEvent.click(await screen.findByRole("button", { name: "Reject" }));
  expect(await findReason()).toHaveValue("");
  second.unmount();

  show(outfit);
  await userEvent.click(await screen.findByRole("button", { name: "Reject" }));
  expect(await findReason()).toHaveValue("Blurred");
});

it("says how many characters of a pasted reason are too many", async () => {
  show({ ...outfit, id: "00000000-0000-4000-8000-000000000003" });
  await userEvent.click(await screen.findByRole("button", { name: "Reject" }));
  await userEvent.click(await findReason());
  await userEvent.paste("x".repeat(1003));

  expect(screen.getByText("Up to 1000 characters: these are 3 too many.")).toBeVisible();
  const window = within(screen.getByRole("alertdialog"));
  expect(window.getByRole("button", { name: "Reject" })).toBeDisabled();
});

it("goes to the next and the former outfit by j and k, also where nothing waits for a decision", async () => {
  show({ ...outfit, status: "approved" });
  await screen.findByRole("button", { name: "Edit" });
  await userEvent.keyboard("jk");

  expect(stepped.mock.calls).toEqual([[1], [-1]]);
  expect(decisions).toEqual([]);
});

it("takes a published outfit offline with a reason, and publishes a rejected one", async () => {
  vi.stubGlobal("fetch", async (input: RequestInfo | URL, init?: RequestInit) => {
    if (!String(input).endsWith("/change_review")) return Response.json([]);
    decisions.push(JSON.parse(String(init?.body)));
    return Response.json({});
  });
  const published = { ...outfit, id: "00000000-0000-4000-8000-00000000000a" };
  const shown = show({ ...published, status: "approved" });
  await userEvent.click(await screen.findByRole("button", { name: "Take offline" }));
  await userEvent.type(await findReason(), "Not their photo");
  const question = screen.getByRole("alertdialog", { name: "Take Summer Look offline?" });
  await userEvent.click(within(question).getByRole("button", { name: "Take offline" }));
  await waitFor(() => expect(decisions).toHaveLength(1));
  expect(decisions).toMatchObject([
    {
      combine_id: published.id,
      approve: false,
      reason: "Not their photo",
      seen: outfit.updated_at,
    },
  ]);
  shown.unmount();

  show({ ...outfit, status: "rejected" });
  await userEvent.click(await screen.findByRole("button", { name: "Approve" }));
  await waitFor(() => expect(decisions).toHaveLength(2));
  expect(decisions[1]).toMatchObject({ combine_id: outfit.id, approve: true });
});

it("the second click of a double click on Approve of a rejected outfit decides nothing about the next one", async () => {
  let changed = 0;
  vi.stubGlobal("fetch", async (input: RequestInfo | URL) => {
    if (String(input).endsWith("/change_review")) changed += 1;
    if (String(input).endsWith("/review_combine")) decisions.push({});
    return Response.json([]);
  });
  const press = async (detail: number) => {
    const button = await screen.findByRole("button", { name: "Approve" });
    const click = createEvent.click(button, { detail, clientX: 300 });
    // 100 ms after the first one, however long a busy machine takes.
    Object.defineProperty(click, "timeStamp", { value: 100 * detail });
    fireEvent(button, click);
  };
  const shown = show({ ...outfit, status: "rejected" });
  await press(1);
  shown.unmount();
  show(other);
  await press(2);

  await waitFor(() => expect(changed).toBe(1));
  expect(decisions).toEqual([]);
});
