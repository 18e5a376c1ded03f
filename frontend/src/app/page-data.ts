import type { QueryClient } from "@tanstack/react-query";
import { providersKey } from "@/features/auth/api/enabled-providers";
import { brandQuery } from "@/features/brands/api/get-brand";
import { itemQuery } from "@/features/items/api/get-item";
import { brandItemsQuery } from "@/features/items/api/list-brand-items";
import { outfitQuery } from "@/features/outfits/api/get-outfit";
import { creatorOutfitsQuery } from "@/features/outfits/api/list-creator-outfits";
import { outfitItemsQuery } from "@/features/outfits/api/list-outfit-items";
import { outfitListQuery } from "@/features/outfits/api/list-outfits";
import { outfitsWithItemQuery } from "@/features/outfits/api/list-outfits-with";
import { outfitSearchQuery } from "@/features/outfits/api/search-outfits";
import { profileQuery } from "@/features/profiles/api/get-profile";
import { unfilteredSearch } from "@/lib/catalogue-search";
import { mayPageBeOld } from "@/lib/own-changes";
import { buildPage, type Page } from "@/lib/paged-query";
import { setSite } from "@/lib/site";
import { colorsQuery, outfitStylesQuery } from "@/lib/vocabulary";
import type { PageData } from "./page-rows";

/** Puts the rows into the cache as if their queries had just been answered: the first view needs no request. */
export function seedQueries(queryClient: QueryClient, data: PageData): void {
  if (data.site !== undefined) {
    setSite({ name: data.site.name, registrationOpen: data.site.registration_open });
  }
  if (data.outfit_styles !== undefined) {
    queryClient.setQueryData(outfitStylesQuery().queryKey, data.outfit_styles);
  }
  if (data.colors !== undefined) queryClient.setQueryData(colorsQuery().queryKey, data.colors);
  if (data.newest_outfits !== undefined) {
    const { queryKey } = outfitListQuery({ search: "", genders: [] });
    queryClient.setQueryData(queryKey, buildFirstPage(data.newest_outfits));
    // Discovery without a search and filters begins with the same outfits.
    const discovery = outfitSearchQuery({ ...unfilteredSearch, styles: [] });
    queryClient.setQueryData(discovery.queryKey, buildFirstPage(data.newest_outfits));
  }
  if (data.providers !== undefined) queryClient.setQueryData(providersKey, data.providers);
  seedSubject(queryClient, data);
  // They are shown at once all the same, and read again in the background.
  if (mayPageBeOld()) void queryClient.invalidateQueries({ refetchType: "none" });
}

/** Rows of the outfit, item, brand or creator that the page is about. Addresses name the first two by slug or id. */
function seedSubject(queryClient: QueryClient, data: PageData): void {
  const { outfit, item, brand, profile } = data;
  if (outfit !== undefined) {
    queryClient.setQueryData(outfitQuery(outfit.slug).queryKey, outfit);
    queryClient.setQueryData(outfitQuery(outfit.id).queryKey, outfit);
    queryClient.setQueryData(outfitItemsQuery(outfit).queryKey, data.outfit_items);
  }
  if (item !== undefined) {
    queryClient.setQueryData(itemQuery(item.slug).queryKey, item);
    queryClient.setQueryData(itemQuery(item.id).queryKey, item);
    const { queryKey } = outfitsWithItemQuery(item.id);
    queryClient.setQueryData(queryKey, buildFirstPage(data.item_outfits ?? []));
  }
  if (brand !== undefined) {
    queryClient.setQueryData(brandQuery(brand.id).queryKey, brand);
  }
  if (brand !== undefined && data.brand_items !== undefined) {
    queryClient.setQueryData(brandItemsQuery(brand.id).queryKey, buildFirstPage(data.brand_items));
  }
  if (profile !== undefined) {
    queryClient.setQueryData(profileQuery(profile.username ?? "").queryKey, profile);
    const { queryKey } = creatorOutfitsQuery(profile.id, "approved");
    queryClient.setQueryData(queryKey, buildFirstPage(data.creator_outfits ?? []));
  }
}

/** The state of an infinite query that has read its first page. */
function buildFirstPage<Row>(rows: Row[]): { pages: Page<Row>[]; pageParams: number[] } {
  return { pages: [buildPage(rows, 0)], pageParams: [0] };
}
