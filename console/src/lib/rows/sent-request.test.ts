import { expect, it, vi } from "vitest";
import { openSentRequestStore, takeApplied } from "./sent-request";
import { editInsert, stageDelete, stageInsert, stageUpdate } from "./staged";

const id = { key: ["7"], xmin: "900" };

it("console_054_what_was_applied_leaves_and_what_was_staged_since_stays", () => {
  const sent = stageDelete(stageInsert([], "9", { a: { value: "x" } }), "9", { key: ["1"] }, {});
  const now = stageInsert(sent, "9", { a: { value: "later" } });

  expect(takeApplied(now, sent, [{ id, values: { a: "x" } }, null])).toEqual([now[2]]);
});

it("console_054_an_insert_that_was_edited_after_it_was_sent_becomes_an_update_of_its_row", () => {
  const sent = stageInsert([], "9", { a: { value: "x" }, b: { value: "y" } });
  const now = editInsert(sent, sent[0]?.id ?? "", { a: { value: "edited" } });

  expect(takeApplied(now, sent, [{ id, values: { a: "x", b: "y" } }])).toMatchObject([
    {
      change: {
        kind: "update",
        table: "9",
        row: id,
        base: { a: "x" },
        values: { a: { value: "edited" } },
      },
    },
  ]);
});

it("console_054_an_edit_that_was_edited_after_it_was_sent_is_one_of_the_row_as_it_is_now", () => {
  const row = { key: ["7"], xmin: "800" };
  const sent = stageUpdate([], "9", row, { a: "old" }, { a: { value: "x" } });
  const now = stageUpdate(sent, "9", row, { b: "y" }, { b: { value: null } });

  expect(takeApplied(now, sent, [{ id, values: { a: "x", b: "y" } }])).toMatchObject([
    { change: { row: id, base: { b: "y" }, values: { b: { value: null } } } },
  ]);
});

it("console_054_a_request_is_lost_when_its_tab_is_gone_and_is_kept_over_a_reload", () => {
  const store = openSentRequestStore("shop");
  store.keep({ id: "r1", changes: [] });

  expect(store.lost()).toBeNull();
  expect(openSentRequestStore("shop").lost()).toEqual({ id: "r1", changes: [] });
  store.lose("r1");
  expect(store.lost()).toEqual({ id: "r1", changes: [] });
  store.forget("another");
  expect(store.lost()).not.toBeNull();
  store.forget("r1");
  expect(openSentRequestStore("shop").lost()).toBeNull();
});

it("console_054_a_request_is_kept_in_memory_where_the_storage_refuses", () => {
  const store = openSentRequestStore("shop");
  vi.spyOn(Storage.prototype, "setItem").mockImplementation(() => {
    throw new DOMException("full", "QuotaExceededError");
  });
  store.keep({ id: "r2", changes: [] });
  store.lose("r2");

  expect(store.lost()?.id).toBe("r2");
});
