import { currentSite } from "@/lib/site";

/** The site's name, which administrators may change, and its slogans. No other file spells the slogans. */
export const product = {
  get name(): string {
    return currentSite().name;
  },
  claim: "Looking great outfit suggestions",
  promise: "Discover curated outfit combinations, save your favorites.",
  offer: "Pre-made outfits for you",
  /** For phones, which show the outfits before a longer sentence could be read. */
  aboutInShort: "Complete outfits, piece by piece.",
  get about(): string {
    return `${currentSite().name} shows complete outfits, piece by piece: browse them, keep the ones you like, and publish your own on a page with your name.`;
  },
};

/** Document title of a page. Its own name comes first, because browser tabs cut titles at the end. */
export function pageTitle(page?: string): string {
  return page === undefined ? `${product.name} · ${product.offer}` : `${page} · ${product.name}`;
}
