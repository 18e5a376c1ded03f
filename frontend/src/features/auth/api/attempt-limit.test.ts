import { describe, expect, it } from "vitest";
import { attemptLimit } from "./attempt-limit";

const minute = 60_000;

function tryTimes(email: string, times: number, at: number) {
  for (let attempt = 0; attempt < times; attempt++) attemptLimit.count(email, at);
}

describe("attemptLimit", () => {
  it("is reached after five wrong attempts for one address", () => {
    tryTimes("a@b.test", 4, 0);
    expect(attemptLimit.isReached("a@b.test", 1)).toBe(false);
    tryTimes("a@b.test", 1, 0);
    expect(attemptLimit.isReached("a@b.test", 1)).toBe(true);
    expect(attemptLimit.isReached("other@b.test", 1)).toBe(false);
  });

  it("ends after 15 minutes or a successful sign-in", () => {
    tryTimes("a@b.test", 5, 0);
    expect(attemptLimit.isReached("a@b.test", 14 * minute)).toBe(true);
    expect(attemptLimit.isReached("a@b.test", 15 * minute)).toBe(false);
    tryTimes("a@b.test", 5, 0);
    attemptLimit.forget("a@b.test", 1);
    expect(attemptLimit.isReached("a@b.test", 2)).toBe(false);
  });

  it("ignores a stored value that is not JSON", () => {
    localStorage.setItem("lookbook:sign-in-attempts", "{not json");
    expect(attemptLimit.isReached("a@b.test")).toBe(false);
  });
});
