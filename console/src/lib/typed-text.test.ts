import { isComposing, isEnter, isEscape, keyName } from "@ui/keys";
import { keepLineEnds, nameLineEnds } from "@ui/line-ends";
import { mergeEdit } from "@ui/merge-edit";
import { refuseStrayDrops } from "@ui/stray-drops";
import { describe, expect, it } from "vitest";

describe("keys of input methods and other keyboards", () => {
  it("console_002_enter_that_ends_a_composition_confirms_nothing", () => {
    expect(isEnter(new KeyboardEvent("keydown", { key: "Enter" }))).toBe(true);
    expect(isEnter(new KeyboardEvent("keydown", { key: "Enter", isComposing: true }))).toBe(false);
    // Safari sends it after the composition has ended.
    expect(isEnter(new KeyboardEvent("keydown", { key: "Enter", keyCode: 229 }))).toBe(false);
    const native = new KeyboardEvent("keydown", { key: "Enter", isComposing: true });
    expect(isEnter({ key: "Enter", nativeEvent: native })).toBe(false);
    expect(isEscape({ key: "Escape", nativeEvent: native })).toBe(false);
    expect(isComposing({ key: "a" })).toBe(false);
  });

  it("console_002_a_letter_of_another_alphabet_is_the_latin_one_at_its_place", () => {
    expect(keyName({ key: "л", code: "KeyK" })).toBe("k");
    expect(keyName({ key: "ö", code: "Semicolon" })).toBe("ö");
    expect(keyName({ key: "z", code: "KeyY" })).toBe("z");
    expect(keyName({ key: "Enter", code: "Enter" })).toBe("Enter");
  });
});

describe("line ends", () => {
  it("console_034_an_edited_word_leaves_all_line_ends", () => {
    expect(keepLineEnds("a\r\nb\r\nc", "a\nB\nc")).toBe("a\r\nB\r\nc");
    expect(keepLineEnds("a\r\nb", "a\nnew\nb")).toBe("a\r\nnew\r\nb");
    expect(keepLineEnds("a\r\nb\nc\rd", "a\nb!\nc\nd")).toBe("a\r\nb!\nc\rd");
    expect(keepLineEnds("a\r\nb\nc\nd", "a\nd")).toBe("a\r\nd");
    expect(keepLineEnds("a\nb", "a\nc")).toBe("a\nc");
    expect(keepLineEnds("", "a\nb")).toBe("a\nb");
  });

  it("console_034_line_ends_have_a_name_for_the_reader", () => {
    expect(["a\nb", "a\r\nb", "a\rb", "a\r\nb\n"].map(nameLineEnds)).toEqual([
      undefined,
      "CRLF",
      "CR",
      "mixed line ends",
    ]);
  });
});

describe("an edit beside those of others", () => {
  it("console_033_own_changes_are_joined_with_those_of_others", () => {
    const merged = mergeEdit<Record<string, unknown>>(
      { plan: "free", seats: 1, note: "x" },
      { plan: "free", seats: 2, note: "x" },
      { plan: "pro", seats: 1, note: "x", credit: 5 },
    );

    expect(merged).toEqual({
      values: { plan: "pro", seats: 2, note: "x", credit: 5 },
      yielded: { plan: "pro", seats: 2, note: "x", credit: 5 },
      changes: { seats: 2 },
      conflicts: [],
      others: [
        { field: "plan", base: "free", theirs: "pro" },
        { field: "credit", base: undefined, theirs: 5 },
      ],
    });
  });

  it("console_033_a_field_that_both_have_changed_differently_is_a_conflict", () => {
    const base: Record<string, unknown> = { a: 1, b: { c: [1] }, gone: 1 };

    expect(mergeEdit(base, { a: 2, b: { c: [1] } }, { a: 3, b: { c: [1] }, gone: 2 })).toEqual({
      values: { a: 2, b: { c: [1] } },
      yielded: { a: 3, b: { c: [1] }, gone: 2 },
      changes: { a: 2, gone: undefined },
      others: [],
      conflicts: [
        { field: "a", base: 1, mine: 2, theirs: 3 },
        { field: "gone", base: 1, mine: undefined, theirs: 2 },
      ],
    });
    expect(mergeEdit({ a: 1 }, { a: 2 }, { a: 2 }).conflicts).toEqual([]);
  });

  it("console_033_objects_within_are_joined_by_their_keys", () => {
    const base = { prefs: { size: "M", mail: true, list: [1] } };
    const mine = { prefs: { size: "L", mail: true, list: [1, 2] } };
    const theirs = { prefs: { size: "S", mail: false, list: [1], news: true } };

    expect(mergeEdit<object>(base, mine, theirs)).toEqual({
      values: { prefs: { size: "L", mail: false, list: [1, 2], news: true } },
      yielded: { prefs: { size: "S", mail: false, list: [1, 2], news: true } },
      changes: { prefs: { size: "L", mail: false, list: [1, 2], news: true } },
      conflicts: [{ field: "prefs.size", base: "M", mine: "L", theirs: "S" }],
      others: [
        { field: "prefs.mail", base: true, theirs: false },
        { field: "prefs.news", base: undefined, theirs: true },
      ],
    });
  });
});

it("console_120_a_file_dropped_beside_its_place_does_not_replace_the_page", () => {
  const stop = refuseStrayDrops();
  const drop = (type: string) => {
    const event = new Event("drop", { bubbles: true, cancelable: true });
    Object.assign(event, { dataTransfer: { types: [type], dropEffect: "copy" } });
    document.body.dispatchEvent(event);
    return event.defaultPrevented;
  };

  expect(drop("Files")).toBe(true);
  expect(drop("text/plain")).toBe(false);
  stop();
  expect(drop("Files")).toBe(false);
});
