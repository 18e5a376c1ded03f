import { afterEach, expect, test } from "vitest";
import {
  type Draft,
  defaultName,
  emptyDraft,
  isComposed,
  itemsThatDoNotFit,
  nameError,
  type PickedItem,
  pictureItem,
  readDraft,
  removeDraft,
  selectableGenders,
  sheetWord,
  storeDraft,
  storedGender,
} from "./draft";

function item(id: string, gender: PickedItem["gender"]): PickedItem {
  return { id, name: id, image: `/${id}.webp`, image_color: null, price: 10, gender };
}

afterEach(() => localStorage.clear());

test("a blank name becomes the local time", () => {
  expect(defaultName(new Date(2026, 10, 22, 14, 5, 59))).toBe("Outfit 2026-11-22 14:05");
  expect(defaultName(new Date(2026, 0, 3, 0, 0))).toBe("Outfit 2026-01-03 00:00");
});

test("names have 2 to 200 characters, or none", () => {
  expect(nameError("   ")).toBeUndefined();
  expect(nameError(" a ")).toBe("Name must be at least 2 characters");
  expect(nameError("ab")).toBeUndefined();
  expect(nameError("🧣".repeat(200))).toBeUndefined();
  expect(nameError("a".repeat(201))).toBe("Name must be at most 200 characters");
});

test("an outfit for men or women also takes unisex items, one without a choice takes all", () => {
  expect(selectableGenders("all")).toEqual([]);
  expect(selectableGenders("men")).toEqual(["men", "unisex"]);
  expect(selectableGenders("unisex")).toEqual(["unisex"]);
  expect(storedGender("all")).toBe("unisex");
  expect(storedGender("women")).toBe("women");
});

test("items that do not fit a gender are those of the others", () => {
  const items = [item("a", "men"), item("b", "women"), item("c", "unisex")];

  expect(itemsThatDoNotFit(items, "all")).toEqual([]);
  expect(itemsThatDoNotFit(items, "women").map(({ id }) => id)).toEqual(["a"]);
  expect(itemsThatDoNotFit(items, "unisex").map(({ id }) => id)).toEqual(["a", "b"]);
});

test("the picture is that of the only item, or of all together, until one is chosen, and again when that one is taken out", () => {
  const draft: Draft = { ...emptyDraft(), items: [item("a", "men"), item("b", "men")] };

  expect(pictureItem({ ...draft, items: [item("a", "men")] })?.id).toBe("a");
  expect([pictureItem(draft), isComposed(draft)]).toEqual([undefined, true]);
  const chosen: Draft = { ...draft, picture: { kind: "item", itemId: "b" } };
  expect([pictureItem(chosen)?.id, isComposed(chosen)]).toEqual(["b", false]);
  const withoutPicture = { ...item("c", "men"), image: null };
  expect(isComposed({ ...draft, items: [item("a", "men"), withoutPicture] })).toBe(false);
  expect(pictureItem({ ...chosen, items: [item("a", "men")] })?.id).toBe("a");
  expect(pictureItem({ ...draft, picture: { kind: "composed" } })).toBeUndefined();
});

test("drafts of two people and of two outfits are kept apart", () => {
  const mine = { ...emptyDraft(), name: "Mine" };
  storeDraft("ana", null, mine);
  storeDraft("ana", "outfit-1", { ...emptyDraft(), name: "Edited" });

  expect(readDraft("ana", null)).toEqual(mine);
  expect(readDraft("ana", "outfit-1")?.name).toBe("Edited");
  expect(readDraft("bob", null)).toBeNull();
  removeDraft("ana", null);
  expect(readDraft("ana", null)).toBeNull();
  expect(readDraft("ana", "outfit-1")?.name).toBe("Edited");
});

test.each([
  "no JSON",
  "null",
  '{"items":[]}',
  '{"version":0,"draft":{"items":[]}}',
  '{"version":1}',
])("a stored draft of another version, or %s, is ignored", (stored) => {
  localStorage.setItem("lookbook:create-outfit:ana", stored);

  expect(readDraft("ana", null)).toBeNull();
});

test("a sheet has another word for each way in which its pieces were moved", () => {
  const draft = (moved: Record<string, { x: number; y: number }>): Draft => ({
    ...emptyDraft(),
    items: [item("a", "men"), item("b", "men")],
    picture: { kind: "composed", arrangement: "worn", moved },
  });

  expect(sheetWord(draft({}))).toBe("worn");
  expect(sheetWord(draft({ gone: { x: 1, y: 1 } }))).toBe("worn");
  const words = [
    { a: { x: 1, y: 0 } },
    { a: { x: 0, y: 1 } },
    { b: { x: 1, y: 0 } },
    { a: { x: 1, y: 0 }, b: { x: 1, y: 0 } },
  ].map((moved) => sheetWord(draft(moved)));
  expect(new Set(words).size).toBe(words.length);
  expect(words.every((word) => /^moved[0-9a-z]+$/.test(word))).toBe(true);
  // The order in which they were moved changes nothing.
  expect(sheetWord(draft({ b: { x: 1, y: 0 }, a: { x: 1, y: 0 } }))).toBe(words[3]);
});
