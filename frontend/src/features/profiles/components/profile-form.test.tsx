import { act, screen, waitFor, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { useState } from "react";
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
  version: 1,
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
      const { version, ...changes } = JSON.parse(String(init.body));
      if (version !== saved.version) {
        const details = JSON.stringify({ version: saved.version });
        return Response.json({ code: "PT409", message: "Changed.", details }, { status: 409 });
      }
      updates.push(changes);
      saved = { ...saved, ...changes, version: saved.version + 1 };
      await beforeAnswer();
      return Response.json([saved]);
    }
    return Response.json(String(input).includes("/profiles?") ? saved : true);
  });
});

/** What another device saves. */
function saveElsewhere(changes: object): void {
  saved = { ...saved, ...changes, version: saved.version + 1 };
}

/** The form of a tab, whose profile can be read anew. */
function Tab() {
  const [known, setKnown] = useState(profile);
  return (
    <>
      <button type="button" onClick={() => setKnown({ ...known, version: 2 })}>
        Read anew
      </button>
      <ProfileForm profile={known} email="mira@lookbook.test" form="full" />
    </>
  );
}

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

  it("stays open with what is typed while it is saved", async () => {
    const onSaved = vi.fn();
    renderAt(
      "/",
      <ProfileForm
        profile={profile}
        email="mira@lookbook.test"
        form="short"
        onSaved={onSaved}
        onCancel={vi.fn()}
      />,
    );
    let answer = () => {};
    beforeAnswer = () => new Promise((resolve) => (answer = () => resolve()));
    const username = await screen.findByLabelText("Username");
    await userEvent.type(username, "_new");
    await userEvent.click(screen.getByRole("button", { name: "Save Changes" }));
    await waitFor(() => expect(updates).toEqual([{ username: "mira_new" }]));
    await userEvent.type(username, "s");
    answer();

    expect(await screen.findByText("Profile updated")).toBeVisible();
    expect(username).toHaveValue("mira_news");
    expect(onSaved).not.toHaveBeenCalled();
    beforeAnswer = async () => undefined;
    await userEvent.click(screen.getByRole("button", { name: "Save Changes" }));
    await waitFor(() => expect(onSaved).toHaveBeenCalledOnce());
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

  it("leaves the texts of another tab alone, in the browser and before that tab's eyes", async () => {
    const first = renderAt("/", <Tab />);
    const second = renderAt("/", <Tab />);
    const within1 = within(first.container);
    await userEvent.type(await within1.findByLabelText("Bio"), "Linen");
    await userEvent.type(within(second.container).getByLabelText("Display Name"), " B");
    expect(JSON.parse(localStorage.getItem(draftKey) ?? "{}")).toEqual({
      bio: "Linen",
      fullName: "Mira B",
    });

    await userEvent.click(within1.getByRole("button", { name: "Read anew" }));
    expect(within1.getByLabelText("Bio")).toHaveValue("Linen");
    expect(within1.getByLabelText("Display Name")).toHaveValue("Mira");

    await userEvent.click(within(second.container).getByRole("button", { name: "Reset" }));
    expect(localStorage.getItem(draftKey)).toBe('{"bio":"Linen"}');
  });

  it("keeps a text that a full storage has refused beside what another tab stores", async () => {
    renderAt("/", <ProfileForm profile={profile} email="mira@lookbook.test" form="full" />);
    const bio = await screen.findByLabelText("Bio");
    const full = vi.spyOn(Storage.prototype, "setItem").mockImplementation(() => {
      throw new DOMException("full", "QuotaExceededError");
    });
    await userEvent.type(bio, "Linen");
    full.mockRestore();
    localStorage.setItem(draftKey, '{"fullName":"Mira B"}');
    act(() => void window.dispatchEvent(new StorageEvent("storage", { key: draftKey })));

    expect(bio).toHaveValue("Linen");
    expect(screen.getByLabelText("Display Name")).toHaveValue("Mira B");
    await userEvent.type(bio, "!");
    expect(JSON.parse(localStorage.getItem(draftKey) ?? "{}")).toEqual({
      fullName: "Mira B",
      bio: "Linen!",
    });
  });

  it("shows what another tab types into the same field, goes on with it, and follows its Reset", async () => {
    renderAt("/", <ProfileForm profile={profile} email="mira@lookbook.test" form="full" />);
    const bio = await screen.findByLabelText("Bio");
    await userEvent.type(bio, "Lin");
    const typeElsewhere = (texts: object) => {
      localStorage.setItem(draftKey, JSON.stringify(texts));
      act(() => void window.dispatchEvent(new StorageEvent("storage", { key: draftKey })));
    };
    typeElsewhere({ bio: "Linen and a long text", fullName: "Mira B" });

    expect(bio).toHaveValue("Linen and a long text");
    expect(screen.getByLabelText("Display Name")).toHaveValue("Mira B");
    await userEvent.type(bio, "!");
    expect(JSON.parse(localStorage.getItem(draftKey) ?? "{}")).toEqual({
      bio: "Linen and a long text!",
      fullName: "Mira B",
    });

    typeElsewhere({ fullName: "Mira B" });
    expect(bio).toHaveValue("");
    expect(screen.getByLabelText("Display Name")).toHaveValue("Mira B");
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
    expect(screen.queryByRole("alertdialog")).not.toBeInTheDocument();
  });

  it("asks before it overwrites what another tab has saved of the field that is typed in here", async () => {
    const first = renderAt("/", <Tab />);
    const second = renderAt("/", <Tab />);
    await userEvent.type(await within(first.container).findByLabelText("Bio"), "Linen");
    await userEvent.type(within(second.container).getByLabelText("Bio"), "Wool");
    const save = { name: "Update Profile" };
    await userEvent.click(within(second.container).getByRole("button", save));
    await waitFor(() => expect(updates).toEqual([{ bio: "Wool" }]));
    expect(await screen.findAllByText("Profile updated")).not.toEqual([]);

    await userEvent.click(within(first.container).getByRole("button", save));
    expect(await screen.findByRole("alertdialog")).toHaveTextContent("YoursLinenTheirsWool");
    expect(updates).toHaveLength(1);
  });

  it("takes a blank at the end for no change", async () => {
    renderAt("/", <ProfileForm profile={profile} email="mira@lookbook.test" form="full" />);
    await userEvent.type(await screen.findByLabelText("Display Name"), " B ");
    await userEvent.type(screen.getByLabelText("Bio"), " ");
    await userEvent.click(screen.getByRole("button", { name: "Update Profile" }));

    expect(await screen.findByText("Profile updated")).toBeVisible();
    expect(updates).toEqual([{ full_name: "Mira B" }]);
    expect(localStorage.getItem(draftKey)).toBeNull();
    expect(screen.getByLabelText("Bio")).toHaveValue("");
  });

  it("asks field by field what is kept of everything that another device has saved", async () => {
    renderAt("/", <ProfileForm profile={profile} email="mira@lookbook.test" form="full" />);
    await userEvent.type(await screen.findByLabelText("Bio"), "Mine");
    await userEvent.type(screen.getByLabelText("Display Name"), "!");
    saveElsewhere({ bio: "Theirs", full_name: "", website_url: "https://mira.example" });
    await userEvent.click(screen.getByRole("button", { name: "Update Profile" }));

    const question = await screen.findByRole("alertdialog");
    expect(updates).toEqual([]);
    expect(question).toHaveTextContent("kept as they saved it: Website.");
    const bio = within(question).getByRole("group", { name: "Bio" });
    expect(bio).toHaveTextContent("YoursMineTheirsTheirs");
    await userEvent.click(within(bio).getByRole("radio", { name: /^Theirs/ }));
    await userEvent.click(within(question).getByRole("button", { name: "Save" }));

    await waitFor(() => expect(updates).toEqual([{ full_name: "Mira!" }]));
    expect(await screen.findByText("Profile updated")).toBeVisible();
    expect(screen.getByLabelText("Bio")).toHaveValue("Theirs");
    expect(screen.getByLabelText("Website")).toHaveValue("https://mira.example");
  });

  it("does not overwrite what another device has saved since the edit began, and asks until it is answered", async () => {
    renderAt("/", <ProfileForm profile={profile} email="mira@lookbook.test" form="full" />);
    const bio = await screen.findByLabelText("Bio");
    await userEvent.type(bio, "Mine");
    saveElsewhere({ bio: "Theirs" });
    const save = screen.getByRole("button", { name: "Update Profile" });
    await userEvent.click(save);

    await userEvent.click(await screen.findByRole("button", { name: "Cancel" }));
    expect(bio).toHaveValue("Mine");
    await userEvent.click(save);
    const question = await screen.findByRole("alertdialog");
    expect(updates).toEqual([]);
    await userEvent.click(within(question).getByRole("button", { name: "Save" }));
    await waitFor(() => expect(updates).toEqual([{ bio: "Mine" }]));
  });

  it("saves beside what another device has saved in other fields", async () => {
    renderAt("/", <ProfileForm profile={profile} email="mira@lookbook.test" form="full" />);
    await userEvent.type(await screen.findByLabelText("Bio"), "Mine");
    saveElsewhere({ full_name: "Mira B." });
    await userEvent.click(screen.getByRole("button", { name: "Update Profile" }));

    await waitFor(() => expect(updates).toEqual([{ bio: "Mine" }]));
    await waitFor(() => expect(screen.getByLabelText("Display Name")).toHaveValue("Mira B."));
    expect(await screen.findByText(/and kept: Display Name\.$/)).toBeVisible();
  });
});
