/** The product's name and slogans. No other file spells them. */
export const product = {
  name: "Lookbook",
  claim: "Looking great outfit suggestions",
  promise: "Discover curated outfit combinations, save your favorites.",
  offer: "Pre-made outfits for you",
  about:
    "Lookbook shows complete outfits, piece by piece: browse them, keep the ones you like, and publish your own on a page with your name.",
} as const;

/** Document title of a page. Its own name comes first, because browser tabs cut titles at the end. */
export function pageTitle(page?: string): string {
  return page === undefined ? `${product.name} · ${product.offer}` : `${page} · ${product.name}`;
}
