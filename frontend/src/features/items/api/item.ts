import type { Gender } from "@/lib/database";

/** Columns of an item, in lists and on its page. */
export const itemColumns =
  "id, slug, name, description, image, image_color, price, gender, colors, source_url, brand:brands(id, name), category:categories(id, name), subcategory:subcategories(id, name)";

/** A row that is referred to, by its name. */
export interface Named {
  id: string;
  name: string;
}

/** A product of the catalogue. */
export interface Item {
  id: string;
  slug: string;
  name: string;
  description: string | null;
  /** Root-relative path or absolute URL. */
  image: string | null;
  /** Average color of the picture as `#rrggbb`. */
  image_color: string | null;
  /** In US dollars. */
  price: number;
  gender: Gender;
  /** Ids of colors. */
  colors: string[];
  /** The retailer's page. */
  source_url: string | null;
  brand: Named;
  category: Named | null;
  subcategory: Named | null;
}
