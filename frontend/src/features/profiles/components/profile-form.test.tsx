import { screen, waitFor } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { renderAt } from "@/testing/render";
import { ProfileForm } from "./profile-form";

const profile = {
  id: "00000000-0000-4000-8000-000000000001",
  username: "mira",
  full_name: "Mira",
  avatar_url: null,
  bio: null,
  instagram_url: null,
  twitter_url: null,
  website_url: null,
  role: "user" as const,
  created_at: "2026-01-01T00:00:00Z",
  updated_at: "2026-01-01T00:00:00Z",
};
const draftKey = `lookbook:edit-profile:${profile.id}`;

/** Bodies of the updates that the form has sent. */
let updates: unknown[];

beforeEach(() => {
  updates = [];
  vi.stubGlobal("fetch", async (_input: RequestInfo | URL, init?: RequestInit) => {
    if (init?.method !== "PATCH") return Response.json(true);
    updates.push(JSON.parse(String(init.body)));
    return Response.json([{ ...profile, ...JSON.parse(String(init.body)) }]);
  });
});

describe("the short form", () => {
  it("leaves alone what was typed into the full one, even if that is not valid yet", async () => {
    localStorage.setItem(draftKey, JSON.stringify({ websiteUrl: "mira.example" }));
    renderAt("/", <ProfileForm profile={profile} email="mira@lookbook.test" form="short" />);

    const username = await screen.findByLabelText("Username");
    await userEvent.clear(username);
    await userEvent.type(username, "mira_new");
    await userEvent.click(screen.getByRole("button", { name: "Save Changes" }));

    await waitFor(() => expect(updates).toEqual([{ username: "mira_new" }]));
    expect(localStorage.getItem(draftKey)).toBe('{"websiteUrl":"mira.example"}');
  });
});

describe("the full form", () => {
  it("begins with the draft, says so, and sends the edited fields only", async () => {
    localStorage.setItem(draftKey, JSON.stringify({ bio: "Linen and wool" }));
    renderAt("/", <ProfileForm profile={profile} email="mira@lookbook.test" form="full" />);

    expect(await screen.findByLabelText("Bio")).toHaveValue("Linen and wool");
    expect(screen.getByText(/You have unsaved changes\./)).toBeVisible();
    await userEvent.click(screen.getByRole("button", { name: "Update Profile" }));

    expect(await screen.findByText("Profile updated")).toBeVisible();
    expect(updates).toEqual([{ bio: "Linen and wool" }]);
    expect(localStorage.getItem(draftKey)).toBeNull();
  });
});
