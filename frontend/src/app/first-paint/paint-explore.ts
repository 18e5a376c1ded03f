import { readCollapsed } from "@/app/layouts/explore/sidebar-state";
import type { PageData } from "@/app/page-rows";
import { introClasses } from "@/app/routes/explore/intro-classes";
import { product } from "@/lib/product";
import { hasStoredSession } from "@/lib/services";
import { bottomBar, div, element, searchBox, span, wordmark } from "./elements";
import { outfitCards } from "./outfit-cards";

const title = "Explore Outfits";

/** The dashboard with the newest outfits. */
export function paintExplore(data: PageData): HTMLElement | null {
  if (data.newest_outfits === undefined) return null;
  const content = div(
    "mx-auto max-w-[110rem] px-4 pt-4 pb-28 md:px-8 md:pt-6 md:pb-16",
    element("h1", "mb-7 font-serif text-display text-ink max-md:mb-5", title),
    ...(hasStoredSession() ? [] : [intro()]),
    outfitCards(data, title, false),
  );
  return div(
    "flex min-h-dvh bg-canvas text-ink",
    sidebar(),
    div("min-w-0 flex-1", topBar(), content),
    bottomBar(),
  );
}

function sidebar(): HTMLElement {
  const frame = "sticky top-0 flex h-dvh shrink-0 flex-col border-line border-r py-4 max-md:hidden";
  if (readCollapsed()) {
    const letter = wordmark("w-11 justify-center italic", product.name.charAt(0));
    return div(`${frame} w-16 items-center px-2.5`, letter);
  }
  return div(
    `${frame} w-64 px-4`,
    wordmark("self-start pl-2"),
    div("mt-4", searchBox("h-11 text-small", "Search outfits...")),
  );
}

function topBar(): HTMLElement {
  const tab = "-mb-px flex h-11 px-3 font-medium text-small";
  return div(
    "sticky top-0 z-30 bg-canvas/92 px-4 py-2 md:px-8 md:py-3",
    div("flex h-11 items-center", wordmark("md:hidden")),
    div(
      "mt-1.5 flex h-11 items-center gap-2 md:hidden",
      searchBox("h-11 flex-1", "Search outfits..."),
      span("size-11 rounded-full border border-line"),
    ),
    div(
      "-mx-4 -mb-2 mt-1 flex border-line border-b px-1 md:hidden",
      span(tab, span("flex items-center border-accent border-b-2", "Newest")),
      span(`${tab} text-ink-soft`, span("flex items-center", "Top")),
    ),
  );
}

/** The sentence for visitors, as in `routes/explore/visitor-intro.tsx`. */
function intro(): HTMLElement {
  return div(
    introClasses.frame,
    element("p", introClasses.text, product.about),
    element("p", introClasses.shortText, product.aboutInShort),
    span(
      "inline-flex h-11 items-center rounded-full border border-line-strong/60 px-5 font-medium text-ink text-small whitespace-nowrap",
      "Create Your Page",
    ),
  );
}
