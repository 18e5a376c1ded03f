import { describe, expect, it } from "vitest";
import { enabledProviders } from "./enabled-providers";
import { resetPasswordSchema, signInSchema, signUpSchema } from "./schemas";
import { describeSignInError, TooManyAttempts } from "./sign-in";

function firstMessage(
  result: { success: true } | { success: false; error: { issues: { message: string }[] } },
) {
  return result.success ? null : result.error.issues[0]?.message;
}

describe("sign-in", () => {
  it("trims the address and converts it to lower case", () => {
    const { email } = signInSchema.parse({
      email: " Noah@Lookbook.TEST ",
      password: "Lookbook-2026",
    });
    expect(email).toBe("noah@lookbook.test");
  });

  it.each([
    [{ email: "noah", password: "long enough" }, "Please enter a valid email address."],
    [{ email: "noah@host", password: "long enough" }, "Please enter a valid email address."],
    [{ email: "a@b.test", password: "" }, "Please enter your password."],
    [{ email: "a@b.test", password: "short" }, "Password must be at least 8 characters long."],
  ])("refuses %j", (values, message) => {
    expect(firstMessage(signInSchema.safeParse(values))).toBe(message);
  });

  it("explains an error by its code", () => {
    expect(describeSignInError({ code: "invalid_credentials" }).description).toBe(
      "Invalid email or password. Please try again.",
    );
    expect(describeSignInError({ code: "email_not_confirmed" }).description).toBe(
      "Please confirm your email before logging in.",
    );
    expect(describeSignInError(new Error("boom"))).toEqual({
      title: "Login failed",
      description: "An error occurred while signing in.",
    });
    expect(describeSignInError(new TooManyAttempts()).title).toBe("Too many attempts");
  });
});

describe("sign-up", () => {
  const values = {
    fullName: "Noah Example",
    username: "noah",
    email: "noah@lookbook.test",
    password: "Lookbook-2026",
  };
  it.each([
    [{ username: "" }, "Please choose a username for your profile."],
    [{ username: "ab" }, "Username must be between 3 and 50 characters."],
    [{ username: "no spaces" }, "Use letters, numbers, dots, dashes and underscores only."],
    [{ password: "a".repeat(73) }, "Password cannot be longer than 72 characters."],
  ])("refuses %j", (change, message) => {
    expect(firstMessage(signUpSchema.safeParse({ ...values, ...change }))).toBe(message);
  });
});

describe("a new password", () => {
  it.each([
    ["Short1", "Short1", "Password must be at least 8 characters."],
    [
      "alllowercase",
      "alllowercase",
      "Password must be at least 8 characters with uppercase, lowercase, and numbers.",
    ],
    ["Lookbook-2026", "Lookbook-2027", "Passwords do not match"],
    ["Lookbook-2026", "Lookbook-2026", null],
  ])("%s and %s: %s", (password, confirmation, message) => {
    expect(firstMessage(resetPasswordSchema.safeParse({ password, confirmation }))).toBe(message);
  });
});

it("offers only providers that the server is configured for", () => {
  const settings = { external: { google: true, github: false, email: true, unheard_of: true } };
  expect(enabledProviders(settings)).toEqual([{ id: "google", label: "Google" }]);
  expect(enabledProviders(null)).toEqual([]);
});
