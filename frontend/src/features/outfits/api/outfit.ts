import type { CombineStatus, Gender } from "@/lib/database.types";

/** What a list needs of an outfit; the modal shows the same and asks for the items itself. */
export const outfitColumns =
  "id, slug, name, description, main_image, image_alt, gender, item_ids, outfit_styles, colors, status, created_at, creator:profiles!combines_user_id_fkey(id, username, full_name, avatar_url)";

export interface OutfitCreator {
  id: string;
  username: string | null;
  full_name: string | null;
  avatar_url: string | null;
}

/** An outfit as people see it; the table is called `combines`. */
export interface Outfit {
  id: string;
  slug: string;
  name: string;
  description: string | null;
  main_image: string | null;
  image_alt: string | null;
  gender: Gender;
  item_ids: string[];
  outfit_styles: string[];
  colors: string[];
  status: CombineStatus;
  created_at: string;
  creator: OutfitCreator | null;
}

/** Outfits asked for at a time. */
export const outfitPageSize = 24;

export interface OutfitPage {
  outfits: Outfit[];
  /** Where the next page begins; absent after the last. */
  nextOffset: number | undefined;
}

/** A page that came back full may have a successor; a shorter one is the last. */
export function outfitPage(
  outfits: Outfit[],
  offset: number,
  rowsRead = outfits.length,
): OutfitPage {
  return {
    outfits,
    nextOffset: rowsRead < outfitPageSize ? undefined : offset + rowsRead,
  };
}

/** The pages as one list. An outfit published while someone scrolls shifts the rest by one: keep it once. */
export function joinPages(pages: readonly OutfitPage[]): Outfit[] {
  const byId = new Map<string, Outfit>();
  for (const page of pages) for (const outfit of page.outfits) byId.set(outfit.id, outfit);
  return [...byId.values()];
}

/** `%` and `_` mean themselves in what people type. */
export function containsPattern(text: string): string {
  return `%${text.replace(/[\\%_]/g, (sign) => `\\${sign}`)}%`;
}
