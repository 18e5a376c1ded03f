import { expect, test } from "vitest";
import type { AdminOutfit } from "./outfits";
import { findChanges, isUnchanged, type ReviewedParts } from "./review-history";

const parts: ReviewedParts = {
  name: "Autumn",
  description: null,
  main_image: "/a.webp",
  gender: "women",
  item_ids: ["coat", "boots"],
  outfit_styles: ["office"],
  colors: [],
};

const outfit: AdminOutfit = {
  ...parts,
  item_ids: ["boots", "coat"],
  outfit_styles: ["office"],
  colors: [],
  id: "1",
  version: 1,
  slug: "autumn",
  meta_description: null,
  image_alt: null,
  status: "pending",
  rejection_reason: null,
  created_by_admin: false,
  created_at: "",
  updated_at: "",
  user_id: null,
  creator: { username: null, full_name: null },
};

test("an outfit in another order of items is unchanged", () => {
  expect(isUnchanged(findChanges(parts, outfit))).toBe(true);
});

test("changed texts, pictures and lists are named with what they were", () => {
  const changed: AdminOutfit = {
    ...outfit,
    description: "Warm",
    main_image: "/b.webp",
    item_ids: ["coat", "bag"],
  };

  expect(findChanges(parts, changed)).toEqual({
    texts: [{ term: "Text", before: null, now: "Warm" }],
    picture: { before: "/a.webp" },
    lists: [{ kind: "item_ids", added: ["bag"], removed: ["boots"] }],
  });
});
