import { useSearchParams } from "react-router";
import { type TopPeriod, topPeriods } from "@/features/outfits/api/list-top-outfits";
import type { Gender } from "@/lib/database";
import { genders } from "@/lib/genders";

/** Sections of the dashboard. `search` is entered by typing, the others by navigation. */
export const sections = [
  "explore",
  "search",
  "likes",
  "top",
  "bookmarks",
  "my-outfits",
  "for-you",
  "following",
] as const;
export type Section = (typeof sections)[number];

/** State of the dashboard. All of it is in the search parameters, so that every view can be linked to. */
export interface ExploreParams {
  section: Section;
  query: string;
  genders: Gender[];
  period: TopPeriod;
  /** Slug or id of the outfit in the modal. */
  outfit: string | null;
  /** Id of the collection whose bookmarks are shown. */
  collection: string | null;
}

export function parseExploreParams(params: URLSearchParams): ExploreParams {
  const query = params.get("q")?.trim() ?? "";
  const named = sections.find((section) => section === params.get("section"));
  const chosen = params.get("gender")?.split(",") ?? [];
  return {
    // A query selects the search section; ?section=search without a query would have nothing to show.
    section:
      query !== "" ? "search" : named === undefined || named === "search" ? "explore" : named,
    query,
    genders: genders.filter((gender) => chosen.includes(gender)),
    period: topPeriods.find(({ value }) => value === params.get("period"))?.value ?? "all",
    outfit: params.get("outfit") || null,
    collection: params.get("collection") || null,
  };
}

/** Search parameters of a state, with a leading `?` or empty. Default values are left out, so that addresses stay short. */
export function exploreSearch(state: Partial<ExploreParams>): string {
  const params = new URLSearchParams();
  if (state.query) params.set("q", state.query);
  else if (
    state.section !== undefined &&
    state.section !== "explore" &&
    state.section !== "search"
  ) {
    params.set("section", state.section);
  }
  if (state.genders !== undefined && state.genders.length > 0) {
    params.set("gender", state.genders.join(","));
  }
  if (state.period !== undefined && state.period !== "all") params.set("period", state.period);
  if (state.collection) params.set("collection", state.collection);
  if (state.outfit) params.set("outfit", state.outfit);
  // Commas are legal in a query string and easier to read unescaped.
  const search = params.toString().replaceAll("%2C", ",");
  return search === "" ? "" : `?${search}`;
}

/** Path of a section without any filter. */
export function sectionPath(section: Section): string {
  return `/${exploreSearch({ section })}`;
}

export function useExploreParams(): ExploreParams {
  const [params] = useSearchParams();
  return parseExploreParams(params);
}
