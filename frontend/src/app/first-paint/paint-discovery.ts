import type { PageData } from "@/app/page-rows";
import { div, element, searchBox, sitePage, span } from "./elements";
import { outfitCards } from "./outfit-cards";

/** Discovery without a search and filters. */
export function paintDiscovery(data: PageData): HTMLElement | null {
  if (data.newest_outfits === undefined) return null;
  const tab = "-mb-px inline-flex h-12 min-w-11 items-center border-b-2 font-medium text-body";
  return sitePage(
    element("h1", "font-serif text-display", "Discovery"),
    div(
      "mt-6 flex items-center gap-2 md:mt-8",
      searchBox("h-12 max-w-2xl flex-1 text-body", "Search outfits and items..."),
      span(
        "inline-flex h-12 shrink-0 items-center gap-2.5 rounded-full border border-line text-small max-md:w-12 md:px-5",
        span("size-4.5"),
        span("max-md:hidden", "Filters"),
      ),
    ),
    div(
      "mt-6 mb-6 flex gap-7 border-line border-b",
      span(`${tab} border-accent text-ink`, "Outfits"),
      span(`${tab} border-transparent text-ink-soft`, "Items"),
    ),
    outfitCards(data, "Found outfits", true),
  );
}
