import type { Gender } from "@/lib/database";

/** Every gender of outfits and items, in the order of filters. */
export const genders = ["men", "women", "unisex"] as const satisfies readonly Gender[];
