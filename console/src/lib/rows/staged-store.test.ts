import { expect, it, vi } from "vitest";
import { stageInsert } from "./staged";
import { openStagedStore } from "./staged-store";

it("console_031_staged_changes_survive_a_reload", () => {
  openStagedStore("shop").update((before) => stageInsert(before, "9", { a: { value: "x" } }));

  expect(openStagedStore("shop").current()).toMatchObject([
    { change: { kind: "insert", table: "9", values: { a: { value: "x" } } } },
  ]);
  expect(openStagedStore("another").current()).toEqual([]);
});

it("console_056_undo_takes_back_steps_of_staging_up_to_the_last_apply", () => {
  const store = openStagedStore("shop");
  store.update((before) => stageInsert(before, "9", {}));
  store.update((before) => stageInsert(before, "9", {}));

  expect(store.undo()).toBe(true);
  expect(store.current()).toHaveLength(1);

  store.update(() => []);
  store.remember([{ kind: "insert", table: "9", values: {} }]);
  expect(store.undo()).toBe(false);
  expect(store.takeRemembered()).toEqual([{ kind: "insert", table: "9", values: {} }]);
});

it("console_056_remembers_the_inverse_of_50_applied_changes", () => {
  const store = openStagedStore("shop");
  for (let index = 0; index < 60; index += 1) store.remember([]);

  let remembered = 0;
  while (store.takeRemembered() !== undefined) remembered += 1;
  expect(remembered).toBe(50);
});

it("console_031_says_when_the_storage_refuses", () => {
  const store = openStagedStore("shop");
  vi.spyOn(Storage.prototype, "setItem").mockImplementation(() => {
    throw new DOMException("full", "QuotaExceededError");
  });
  store.update((before) => stageInsert(before, "9", {}));

  expect(store.current()).toHaveLength(1);
  expect(store.isVolatile()).toBe(true);
});

it("console_031_ignores_storage_that_is_no_list_of_changes", () => {
  localStorage.setItem("console:staged:shop", '{"a":1}');

  expect(openStagedStore("shop").current()).toEqual([]);
});
