import { useSearchParams } from "react-router";
import type { Gender } from "@/lib/database";
import { genders } from "@/lib/genders";

export const discoveryTabs = ["outfits", "items"] as const;
export type DiscoveryTab = (typeof discoveryTabs)[number];

/** Filters of which several values may be chosen, by the names of their search parameters. */
export const listFilters = ["category", "brand", "style", "color"] as const;
export type ListFilter = (typeof listFilters)[number];

/** State of Discovery. All of it is in the search parameters, so that every view can be linked to. */
export interface DiscoveryParams {
  tab: DiscoveryTab;
  query: string;
  genders: Gender[];
  /** Names as addresses write them (`lib/address-word.ts`), or ids of names without a latin letter. */
  category: string[];
  brand: string[];
  style: string[];
  color: string[];
  /** In US dollars. */
  minPrice: number | null;
  maxPrice: number | null;
}

/** New values of some parameters, or a function that has them follow from the address of that moment. */
export type DiscoveryChange =
  | Partial<DiscoveryParams>
  | ((present: DiscoveryParams) => Partial<DiscoveryParams>);

function parseWords(text: string | null): string[] {
  return [...new Set((text ?? "").split(",").filter((word) => word !== ""))];
}

function parsePrice(text: string | null): number | null {
  if (text === null || !/^\d{1,7}$/.test(text)) return null;
  return Number(text);
}

export function parseDiscoveryParams(params: URLSearchParams): DiscoveryParams {
  const chosen = parseWords(params.get("gender"));
  return {
    tab: discoveryTabs.find((tab) => tab === params.get("tab")) ?? "outfits",
    query: params.get("q")?.trim() ?? "",
    genders: genders.filter((gender) => chosen.includes(gender)),
    category: parseWords(params.get("category")),
    brand: parseWords(params.get("brand")),
    style: parseWords(params.get("style")),
    color: parseWords(params.get("color")),
    minPrice: parsePrice(params.get("min")),
    maxPrice: parsePrice(params.get("max")),
  };
}

/** Search parameters of a state, with a leading `?` or empty. Default values are left out, so that addresses stay short. */
export function discoverySearch(state: Partial<DiscoveryParams>): string {
  const params = new URLSearchParams();
  if (state.tab === "items") params.set("tab", "items");
  if (state.query) params.set("q", state.query);
  if (state.genders?.length) params.set("gender", state.genders.join(","));
  for (const filter of listFilters) {
    const words = state[filter];
    if (words?.length) params.set(filter, words.join(","));
  }
  if (typeof state.minPrice === "number") params.set("min", `${state.minPrice}`);
  if (typeof state.maxPrice === "number") params.set("max", `${state.maxPrice}`);
  // Commas are legal in a query string and easier to read unescaped.
  const search = params.toString().replaceAll("%2C", ",");
  return search === "" ? "" : `?${search}`;
}

/** How many values are chosen in the filters that the tab has; items have no style. */
export function countFilters(params: DiscoveryParams): number {
  const lists = listFilters.filter((filter) => params.tab === "outfits" || filter !== "style");
  const listed = lists.reduce((sum, filter) => sum + params[filter].length, 0);
  const price = params.minPrice === null && params.maxPrice === null ? 0 : 1;
  return params.genders.length + listed + price;
}

export function useDiscoveryParams(): DiscoveryParams {
  const [params] = useSearchParams();
  return parseDiscoveryParams(params);
}
