import type { Outfit } from "@/features/outfits/api/outfit";

/** An outfit for tests: slug and name are given, everything else is the minimum that the database allows. */
export function buildOutfit(slug: string, change: Partial<Outfit> = {}): Outfit {
  return {
    id: crypto.randomUUID(),
    slug,
    name: slug,
    description: null,
    main_image: null,
    main_image_color: null,
    image_alt: null,
    gender: "unisex",
    item_ids: [],
    outfit_styles: [],
    colors: [],
    status: "approved",
    created_at: "2026-01-01T00:00:00Z",
    creator: null,
    ...change,
  };
}
