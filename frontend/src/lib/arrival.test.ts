import { describe, expect, it } from "vitest";
import { parseArrival } from "./arrival";

const tokens = "access_token=a&refresh_token=r&expires_in=3600&token_type=bearer";

describe("parseArrival", () => {
  it.each([
    ["", "plain"],
    ["#section", "plain"],
    [`#${tokens}&type=signup`, "confirmed"],
    [`#${tokens}&type=recovery`, "recovery"],
    [`#${tokens}`, "signed-in"],
    ["#type=recovery", "plain"],
  ])("reads %j as %s", (hash, kind) => {
    expect(parseArrival(hash, "").kind).toBe(kind);
  });

  it("keeps the code and the words of a refusal", () => {
    const hash =
      "#error=access_denied&error_code=otp_expired&error_description=Email+link+is+invalid+or+has+expired";
    expect(parseArrival(hash, "")).toEqual({
      kind: "refused",
      code: "otp_expired",
      message: "Email link is invalid or has expired",
    });
  });
});
