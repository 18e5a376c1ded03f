import { describe, expect, it } from "vitest";
import { attemptLimit } from "./attempt-limit";

const minute = 60_000;

function tryTimes(email: string, times: number, at: number) {
  for (let attempt = 0; attempt < times; attempt++) attemptLimit.count(email, at);
}

describe("attemptLimit", () => {
  it("is reached after five wrong tries of one address", () => {
    tryTimes("a@b.test", 4, 0);
    expect(attemptLimit.isReached("a@b.test", 1)).toBe(false);
    tryTimes("a@b.test", 1, 0);
    expect(attemptLimit.isReached("a@b.test", 1)).toBe(true);
    expect(attemptLimit.isReached("other@b.test", 1)).toBe(false);
  });

  it("ends after a quarter of an hour, or with a success", () => {
    tryTimes("a@b.test", 5, 0);
    expect(attemptLimit.isReached("a@b.test", 14 * minute)).toBe(true);
    expect(attemptLimit.isReached("a@b.test", 15 * minute)).toBe(false);
    tryTimes("a@b.test", 5, 0);
    attemptLimit.forget("a@b.test", 1);
    expect(attemptLimit.isReached("a@b.test", 2)).toBe(false);
  });

  it("survives a storage that somebody has scribbled into", () => {
    localStorage.setItem("lookbook:sign-in-attempts", "{not json");
    expect(attemptLimit.isReached("a@b.test")).toBe(false);
  });
});
