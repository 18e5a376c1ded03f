import { describe, expect, it } from "vitest";
import { forgetDraft, keepDraft, readDraft } from "./profile-draft";
import { profileSchema } from "./profile-schema";
import { changesOf } from "./profile-values";

const empty = {
  username: "mira",
  fullName: "",
  bio: "",
  instagramUrl: "",
  twitterUrl: "",
  websiteUrl: "",
};

/** The message under each refused field. */
function messagesOf(values: Partial<typeof empty>, form: "short" | "full", hasUsername = true) {
  const result = profileSchema(form, hasUsername).safeParse({ ...empty, ...values });
  return result.success
    ? {}
    : Object.fromEntries(result.error.issues.map((issue) => [issue.path[0], issue.message]));
}

describe("profileSchema", () => {
  it("asks for a username of 3 to 50 characters", () => {
    const username = "Username must be between 3 and 50 characters.";
    expect(messagesOf({ username: "ab" }, "full")).toEqual({ username });
    expect(messagesOf({ username: "" }, "full")).toEqual({ username });
    expect(messagesOf({ username: "a".repeat(51) }, "full")).toEqual({ username });
    expect(messagesOf({ username: " abc " }, "full")).toEqual({});
  });

  it("lets the short form without a username as long as there is none", () => {
    const username = "Username must be at least 3 characters";
    expect(messagesOf({ username: "" }, "short", false)).toEqual({});
    expect(messagesOf({ username: "ab" }, "short", false)).toEqual({ username });
    expect(messagesOf({ username: "" }, "short", true)).toEqual({ username });
  });

  it.each(["javascript:alert(1)", "example.com", "https://", "https://exa mple.com", "ftp://x.y"])(
    "refuses the link %s",
    (websiteUrl) => {
      expect(messagesOf({ websiteUrl }, "full")).toEqual({
        websiteUrl: "Please enter a valid URL for Website.",
      });
    },
  );
});

describe("the draft", () => {
  it("belongs to one user and holds what differs from the stored profile", () => {
    keepDraft("one", changesOf({ ...empty, bio: "Hello" }, empty));

    expect(readDraft("one")).toEqual({ bio: "Hello" });
    expect(readDraft("two")).toEqual({});
  });

  it("of the short form leaves what was typed into the full one", () => {
    keepDraft("one", { username: "mi", bio: "Hello" });
    forgetDraft("one", ["username"]);

    expect(readDraft("one")).toEqual({ bio: "Hello" });
    expect(readDraft("one", ["username"])).toEqual({});
  });

  it("is removed when nothing differs any more", () => {
    keepDraft("one", { bio: "Hello" });
    forgetDraft("one", ["bio"]);

    expect(localStorage.getItem("lookbook:edit-profile:one")).toBeNull();
  });

  it.each(["{", "null", '{"role":"admin","bio":7}'])("ignores the damaged draft %s", (stored) => {
    localStorage.setItem("lookbook:edit-profile:one", stored);

    expect(readDraft("one")).toEqual({});
  });
});
