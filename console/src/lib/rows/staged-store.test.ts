import { expect, it, vi } from "vitest";
import { discard, editInsert, stageInsert, stageUpdate } from "./staged";
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

  store.finish(() => [], [{ kind: "insert", table: "9", values: {} }]);
  expect(store.undo()).toBe(false);
  expect(store.takeRemembered()).toEqual([{ kind: "insert", table: "9", values: {} }]);
});

it("console_056_remembers_the_inverse_of_50_applied_changes", () => {
  const store = openStagedStore("shop");
  for (let index = 0; index < 60; index += 1) store.finish((before) => before, []);

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

/** The event that the other tabs get when one has stored something. */
const tell = (key: string) => window.dispatchEvent(new StorageEvent("storage", { key }));

const row = { key: ["7"], xmin: "1" };

it("console_056_undo_in_one_tab_keeps_what_another_has_staged", () => {
  const mine = openStagedStore("shop");
  const theirs = openStagedStore("shop");
  mine.update((before) => stageInsert(before, "9", { a: { value: "mine" } }));
  tell("console:staged:shop");
  theirs.update((before) => stageInsert(before, "9", { a: { value: "theirs" } }));

  expect(mine.undo()).toBe(true);
  expect(mine.current()).toMatchObject([{ change: { values: { a: { value: "theirs" } } } }]);
});

it("console_056_undo_does_not_bring_back_what_another_tab_has_applied", () => {
  const mine = openStagedStore("shop");
  const theirs = openStagedStore("shop");
  mine.update((before) => stageUpdate(before, "9", row, { a: "1" }, { a: { value: "2" } }));
  mine.update((before) => stageUpdate(before, "9", row, { a: "1" }, { a: { value: "3" } }));
  tell("console:staged:shop");
  theirs.finish(() => [], []);
  tell("console:staged:shop");

  expect(mine.current()).toEqual([]);
  expect(mine.undo()).toBe(false);
  expect(mine.current()).toEqual([]);
});

it("console_056_undo_brings_back_a_discarded_change_unless_it_was_applied_meanwhile", () => {
  const mine = openStagedStore("shop");
  mine.update((before) => stageInsert(before, "9", { a: { value: "x" } }));
  mine.update((before) => stageInsert(before, "9", { a: { value: "y" } }));
  const [first] = mine.current();
  mine.update((before) => discard(before, first?.id ?? ""));

  expect(mine.undo()).toBe(true);
  expect(mine.current()[0]).toEqual(first);

  const theirs = openStagedStore("shop");
  mine.update((before) => discard(before, first?.id ?? ""));
  // The other tab had sent it before it was discarded here.
  localStorage.setItem("console:staged:shop", JSON.stringify([first]));
  theirs.finish(() => [], []);
  expect(mine.undo()).toBe(false);
});

it("console_054_a_write_keeps_what_another_tab_has_stored_before_its_event_came", () => {
  const mine = openStagedStore("shop");
  const theirs = openStagedStore("shop");
  theirs.update((before) => stageInsert(before, "9", { a: { value: "theirs" } }));
  mine.update((before) => stageInsert(before, "9", { a: { value: "mine" } }));

  expect(mine.current()).toHaveLength(2);
  expect(openStagedStore("shop").current()).toHaveLength(2);
});

it("console_056_the_letters_of_one_cell_are_one_step", () => {
  const store = openStagedStore("shop");
  store.update((before) => stageInsert(before, "9", {}));
  const id = store.current()[0]?.id ?? "";
  for (const text of ["c", "co", "coat"]) {
    store.update((before) => editInsert(before, id, { a: { value: text } }), "9 a");
  }
  store.update((before) => editInsert(before, id, { b: { value: "1" } }), "9 b");

  store.undo();
  expect(store.current()).toMatchObject([{ change: { values: { a: { value: "coat" } } } }]);
  store.undo();
  expect(store.current()).toMatchObject([{ change: { values: {} } }]);
});

it("console_054_each_account_has_its_own_staged_changes", () => {
  openStagedStore("shop:ana").update((before) => stageInsert(before, "9", {}));

  expect(openStagedStore("shop:ben").current()).toEqual([]);
  expect(openStagedStore("shop").current()).toEqual([]);
});
