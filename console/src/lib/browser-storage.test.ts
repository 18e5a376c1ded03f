import { afterEach, expect, it, vi } from "vitest";
import { localStore } from "./browser-storage";

afterEach(() => vi.restoreAllMocks());

it("console_031_what_was_run_before_makes_room_for_typed_text", () => {
  localStore.set("console:shop:sql:history", "x".repeat(100));
  localStore.set("console:shop:sql:text:1", "kept");
  const set = Storage.prototype.setItem;
  vi.spyOn(Storage.prototype, "setItem").mockImplementation(function (this: Storage, key, value) {
    if (this.getItem("console:shop:sql:history") !== null) throw new DOMException("full");
    set.call(this, key, value);
  });

  expect(localStore.set("console:shop:sql:history", "more")).toBe(false);
  expect(localStore.set("console:staged:shop", "[1]")).toBe(true);
  expect(localStorage.getItem("console:shop:sql:text:1")).toBe("kept");
});
