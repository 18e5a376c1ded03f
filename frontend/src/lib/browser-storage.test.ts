import { afterEach, expect, it, vi } from "vitest";
import { localStore } from "./browser-storage";

afterEach(() => vi.restoreAllMocks());

it("a value that the full storage refuses is found in place of the older one that is stored", () => {
  localStore.set("draft", "older");
  const refuse = vi.spyOn(Storage.prototype, "setItem").mockImplementation(() => {
    throw new DOMException("full", "QuotaExceededError");
  });
  localStore.set("draft", "newer");
  expect(localStore.get("draft")).toBe("newer");

  refuse.mockRestore();
  localStore.set("draft", "newest");
  expect([localStore.get("draft"), localStorage.getItem("draft")]).toEqual(["newest", "newest"]);
});
