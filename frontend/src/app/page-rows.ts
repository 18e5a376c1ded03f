import type { IdentityProvider } from "@/features/auth/api/enabled-providers";
import type { Brand } from "@/features/brands/api/get-brand";
import type { Item } from "@/features/items/api/item";
import type { OutfitItem } from "@/features/outfits/api/list-outfit-items";
import type { Outfit } from "@/features/outfits/api/outfit";
import type { PublicProfile } from "@/features/profiles/api/get-profile";
import type { NamedColor } from "@/lib/vocabulary";

/** Rows of a page's first queries, as the database's `page_meta` returns them. Which ones there are depends on the page. */
export interface PageData {
  /** Settings of the site, when they differ from what it was built with. */
  site?: { name: string; registration_open: boolean };
  outfit_styles?: { id: string; name: string }[];
  colors?: NamedColor[];
  /** First page of approved outfits. */
  newest_outfits?: Outfit[];
  outfit?: Outfit;
  /** In the order of the outfit's `item_ids`. */
  outfit_items?: OutfitItem[];
  item?: Item;
  /** First page of approved outfits with the item. */
  item_outfits?: Outfit[];
  brand?: Brand;
  /** First page of the brand's items. */
  brand_items?: Item[];
  profile?: PublicProfile;
  /** First page of the creator's approved outfits. */
  creator_outfits?: Outfit[];
  /** Added by the script that draws the first view of the sign-in page. */
  providers?: IdentityProvider[];
}

const elementId = "page-data";

/** The data that the server wrote into the page; nothing with a development server or when the function failed. */
export function readPageData(): PageData {
  const text = document.getElementById(elementId)?.textContent ?? "";
  return text === "" ? {} : (JSON.parse(text) as PageData);
}

/** Adds rows that a script of the page has fetched before the app starts; the app then need not fetch them. */
export function addPageData(added: PageData): void {
  let element = document.getElementById(elementId);
  if (element === null) {
    element = Object.assign(document.createElement("script"), {
      id: elementId,
      type: "application/json",
    });
    document.head.append(element);
  }
  element.textContent = JSON.stringify({ ...readPageData(), ...added });
}
