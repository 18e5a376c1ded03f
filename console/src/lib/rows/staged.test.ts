import { describe, expect, it } from "vitest";
import {
  discard,
  discardCell,
  editInsert,
  resolveConflict,
  type StagedChange,
  type StagedChanges,
  stageDelete,
  stageInsert,
  stageUpdate,
} from "./staged";
import type { RowId } from "./types";

const row: RowId = { key: ["1"], xmin: "700" };
const none: StagedChanges = [];

describe("staging", () => {
  it("console_054_edits_of_one_row_are_one_change", () => {
    const first = stageUpdate(none, "9", row, { name: "a" }, { name: { value: "b" } });
    const both = stageUpdate(first, "9", row, { price: "1" }, { price: { value: null } });

    expect(both.map(({ change }) => change)).toEqual([
      {
        kind: "update",
        table: "9",
        row,
        base: { name: "a", price: "1" },
        values: { name: { value: "b" }, price: { value: null } },
      },
    ]);
  });

  it("console_054_a_row_keeps_its_address_when_its_key_is_edited_first", () => {
    const key = stageUpdate(none, "9", row, { id: "1" }, { id: { value: "2" } });
    const then = stageUpdate(key, "9", row, { name: "a" }, { name: { value: "b" } });

    expect(then).toHaveLength(1);
    expect(then[0]?.change).toMatchObject({
      row,
      values: { id: { value: "2" }, name: { value: "b" } },
    });
  });

  it("console_054_a_cell_with_its_old_value_again_is_not_changed", () => {
    const edited = stageUpdate(none, "9", row, { name: "a" }, { name: { value: "b" } });

    expect(stageUpdate(edited, "9", row, { name: "a" }, { name: { value: "a" } })).toEqual([]);
  });

  it("console_034_null_and_the_empty_text_are_different_edits", () => {
    const edited = stageUpdate(none, "9", row, { name: null }, { name: { value: "" } });

    expect(edited[0]?.change).toMatchObject({ values: { name: { value: "" } } });
  });

  it("console_054_an_insert_that_is_discarded_was_never_there", () => {
    const inserted = stageInsert(none, "9", {});
    const id = inserted[0]?.id ?? "";
    const edited = editInsert(inserted, id, { name: { value: "a" } });

    expect(edited[0]?.change).toMatchObject({ kind: "insert", values: { name: { value: "a" } } });
    expect(discard(edited, id)).toEqual([]);
  });

  it("console_054_deleting_an_edited_row_deletes_it_as_it_was_read", () => {
    const edited = stageUpdate(none, "9", row, { name: "a" }, { name: { value: "b" } });
    const deleted = stageDelete(edited, "9", row, { id: "1", name: "a" });

    expect(deleted.map(({ change }) => change)).toEqual([
      { kind: "delete", table: "9", row, base: { id: "1", name: "a" } },
    ]);
    expect(stageUpdate(deleted, "9", row, {}, { name: { value: "c" } })).toBe(deleted);
  });

  it("console_054_discarding_the_last_cell_discards_the_change", () => {
    const edited = stageUpdate(none, "9", row, { name: "a" }, { name: { value: "b" } });

    expect(discardCell(edited, edited[0]?.id ?? "", "name")).toEqual([]);
  });

  it("console_055_rows_without_key_are_told_apart_by_their_place", () => {
    const first = { tableoid: "9", ctid: "(0,1)", xmin: "1" };
    const second = { tableoid: "9", ctid: "(0,2)", xmin: "1" };
    const one = stageUpdate(none, "9", first, { a: "x" }, { a: { value: "y" } });

    expect(stageUpdate(one, "9", second, { a: "x" }, { a: { value: "y" } })).toHaveLength(2);
  });
});

describe("resolveConflict", () => {
  const staged = stageUpdate(
    none,
    "9",
    row,
    { name: "a", price: "1" },
    { name: { value: "mine" }, price: { value: "2" } },
  );
  const [sent] = staged as [StagedChange];
  const conflict = {
    change: 0,
    base: { name: "a", price: "1" },
    theirs: { name: "theirs", price: "1" },
    mine: null,
    id: { key: ["1"], xmin: "701" },
  };

  it("console_033_kept_fields_are_staged_on_top_of_what_the_other_wrote", () => {
    expect(
      resolveConflict(staged, sent, conflict, { keep: new Set(["price"]) })[0]?.change,
    ).toEqual({
      kind: "update",
      table: "9",
      row: conflict.id,
      base: { price: "1" },
      values: { price: { value: "2" } },
    });
  });

  it("console_033_taking_every_field_of_theirs_drops_the_change", () => {
    expect(resolveConflict(staged, sent, conflict, { keep: new Set() })).toEqual([]);
  });

  it("console_033_a_cell_that_was_staged_since_stays_on_the_value_it_was_typed_on", () => {
    const typed = { note: { value: "typed" } };
    const later = stageUpdate(staged, "9", row, { note: "old" }, typed);
    const resolve = (note: string) =>
      resolveConflict(
        later,
        sent,
        { ...conflict, theirs: { ...conflict.theirs, note } },
        { keep: new Set(["price"]) },
      )[0]?.change;
    const kept = {
      kind: "update",
      table: "9",
      base: { price: "1", note: "old" },
      values: { price: { value: "2" }, ...typed },
    };

    expect(resolve("old")).toEqual({ ...kept, row: conflict.id });
    // The other person has changed that cell as well: with the former version of the row it is asked about.
    expect(resolve("theirs")).toEqual({ ...kept, row });
  });

  it("console_033_a_change_of_a_row_that_is_gone_is_dropped", () => {
    const gone = { ...conflict, theirs: null };

    expect(resolveConflict(staged, sent, gone, { keep: new Set(["name"]) })).toEqual([]);
  });
});
