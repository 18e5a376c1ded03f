import { describe, expect, it } from "vitest";
import { failureTitle, parseAuthCallback } from "./auth-callback";

const tokens = "access_token=a&refresh_token=r&expires_in=3600&token_type=bearer";

describe("parseAuthCallback", () => {
  it.each([
    ["", "none"],
    ["#section", "none"],
    [`#${tokens}&type=signup`, "confirmed"],
    [`#${tokens}&type=recovery`, "recovery"],
    [`#${tokens}`, "signed-in"],
    ["#type=recovery", "none"],
  ])("reads %j as %s", (hash, kind) => {
    expect(parseAuthCallback(hash, "").kind).toBe(kind);
  });

  it("keeps the code and the message of an error", () => {
    const hash =
      "#error=access_denied&error_code=otp_expired&error_description=Email+link+is+invalid+or+has+expired";
    expect(parseAuthCallback(hash, "")).toEqual({
      kind: "failed",
      code: "otp_expired",
      message: "Email link is invalid or has expired",
    });
  });

  it.each([
    ["otp_expired", "This link did not work"],
    ["access_denied", "Authentication Error"],
    ["provider_email_needs_verification", "Authentication Error"],
    ["bad_oauth_state", "Authentication Error"],
  ])("tells a link in a mail from a sign-in at a provider: %s", (code, title) => {
    expect(failureTitle(code)).toBe(title);
  });

  it("says that a sign-in was cancelled when the provider leaves the description empty", () => {
    expect(parseAuthCallback("#error=access_denied&error_description=", "")).toMatchObject({
      kind: "failed",
      message: "The sign-in was cancelled.",
    });
  });
});
