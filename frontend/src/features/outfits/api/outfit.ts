import type { CombineStatus, Gender } from "@/lib/database";

/** Columns of an outfit in lists and in the modal. Items are fetched apart, when an outfit is opened. */
export const outfitColumns =
  "id, slug, name, description, main_image, main_image_color, image_alt, gender, item_ids, outfit_styles, colors, status, created_at, creator:profiles!combines_user_id_fkey(id, username, full_name, avatar_url)";

export interface OutfitCreator {
  id: string;
  username: string | null;
  full_name: string | null;
  avatar_url: string | null;
}

/** An outfit. Its table is called `combines`, the specification's word. */
export interface Outfit {
  id: string;
  slug: string;
  name: string;
  description: string | null;
  main_image: string | null;
  /** Average color of the picture as `#rrggbb`. */
  main_image_color: string | null;
  image_alt: string | null;
  gender: Gender;
  item_ids: string[];
  outfit_styles: string[];
  colors: string[];
  status: CombineStatus;
  created_at: string;
  creator: OutfitCreator | null;
}
