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
/** The profile as it is saved. */
let saved: typeof profile;
/** Called before the answer of an update is given. */
let beforeAnswer: () => Promise<void>;

beforeEach(() => {
  updates = [];
  saved = profile;
  beforeAnswer = async () => undefined;
  vi.stubGlobal("fetch", async (input: RequestInfo | URL, init?: RequestInit) => {
    if (init?.method === "PATCH") {
      updates.push(JSON.parse(String(init.body)));
      saved = { ...saved, ...JSON.parse(String(init.body)) };
      await beforeAnswer();
      return Response.json([saved]);
    }
    return Response.json(String(input).includes("/profiles?") ? saved : true);
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

  it("keeps what is typed while it is saved", async () => {
    renderAt("/", <ProfileForm profile={profile} email="mira@lookbook.test" form="full" />);
    let answer = () => {};
    beforeAnswer = () => new Promise((resolve) => (answer = () => resolve()));
    const bio = await screen.findByLabelText("Bio");
    await userEvent.type(bio, "Linen");
    await userEvent.click(screen.getByRole("button", { name: "Update Profile" }));
    await waitFor(() => expect(updates).toEqual([{ bio: "Linen" }]));

    await userEvent.type(bio, " and wool");
    answer();

    expect(await screen.findByText("Profile updated")).toBeVisible();
    expect(bio).toHaveValue("Linen and wool");
    expect(JSON.parse(localStorage.getItem(draftKey) ?? "{}")).toEqual({ bio: "Linen and wool" });
  });

  it("does not take its own save for another device's, neither while typing goes on nor when the answer is lost", async () => {
    renderAt("/", <ProfileForm profile={profile} email="mira@lookbook.test" form="full" />);
    const bio = await screen.findByLabelText("Bio");
    const save = screen.getByRole("button", { name: "Update Profile" });
    let answer = () => {};
    beforeAnswer = () => new Promise((resolve) => (answer = () => resolve()));
    await userEvent.type(bio, "Linen");
    await userEvent.click(save);
    await waitFor(() => expect(updates).toHaveLength(1));
    await userEvent.type(bio, " and wool");
    answer();
    expect(await screen.findByText("Profile updated")).toBeVisible();

    // Stored, but the answer does not arrive.
    beforeAnswer = async () => {
      throw new TypeError("Failed to fetch");
    };
    await userEvent.click(save);
    await waitFor(() => expect(updates).toHaveLength(2));
    expect(await screen.findByText("Error updating profile")).toBeVisible();
    await userEvent.type(bio, ".");
    beforeAnswer = async () => undefined;
    await userEvent.click(save);

    await waitFor(() => expect(updates.at(-1)).toEqual({ bio: "Linen and wool." }));
    expect(screen.queryByText("Your profile was changed elsewhere")).not.toBeInTheDocument();
  });

  it("names everything at once that another device has saved", async () => {
    renderAt("/", <ProfileForm profile={profile} email="mira@lookbook.test" form="full" />);
    await userEvent.type(await screen.findByLabelText("Bio"), "Mine");
    await userEvent.type(screen.getByLabelText("Display Name"), "!");
    saved = { ...profile, bio: "Theirs" as unknown as null, full_name: "" };
    const save = screen.getByRole("button", { name: "Update Profile" });
    await userEvent.click(save);

    expect(await screen.findByText(/Display Name is empty, Bio is “Theirs” by now/)).toBeVisible();
    await userEvent.click(save);
    await waitFor(() => expect(updates).toEqual([{ full_name: "Mira!", bio: "Mine" }]));
  });

  it("does not overwrite what another device has saved since the edit began", async () => {
    renderAt("/", <ProfileForm profile={profile} email="mira@lookbook.test" form="full" />);
    const bio = await screen.findByLabelText("Bio");
    await userEvent.type(bio, "Mine");
    saved = { ...profile, bio: "Theirs" as unknown as null };
    const save = screen.getByRole("button", { name: "Update Profile" });
    await userEvent.click(save);

    expect(await screen.findByText(/Bio is “Theirs” by now/)).toBeVisible();
    expect(updates).toEqual([]);
    await userEvent.click(save);
    await waitFor(() => expect(updates).toEqual([{ bio: "Mine" }]));
  });
});
