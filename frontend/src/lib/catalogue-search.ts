import type { Gender } from "@/lib/database";

/** The search parameters of outfits and items; an empty list does not filter. Words are names as in URLs, or ids. */
export interface CatalogueSearch {
  /** Part of a name: of the row itself, its brand, color or (outfits) style. */
  term: string;
  genders: readonly Gender[];
  categories: readonly string[];
  brands: readonly string[];
  colors: readonly string[];
  /** US dollars; an outfit costs what its items cost together. */
  minPrice: number | null;
  maxPrice: number | null;
}

/** Arguments of `search_items` and, with `styles`, of `search_outfits`. Filters without a value are left out. */
export function searchArguments(search: CatalogueSearch) {
  const { term, genders, categories, brands, colors, minPrice, maxPrice } = search;
  return {
    term,
    ...(genders.length > 0 && { genders: [...genders] }),
    ...(categories.length > 0 && { categories: [...categories] }),
    ...(brands.length > 0 && { brands: [...brands] }),
    ...(colors.length > 0 && { colors: [...colors] }),
    ...(minPrice !== null && { min_price: minPrice }),
    ...(maxPrice !== null && { max_price: maxPrice }),
  };
}

/** A search without conditions, which matches unfilteredSearch. */
export const unfilteredSearch: CatalogueSearch = {
  term: "",
  genders: [],
  categories: [],
  brands: [],
  colors: [],
  minPrice: null,
  maxPrice: null,
};
