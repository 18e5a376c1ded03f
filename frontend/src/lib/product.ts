/** What the product is called, and the sentences that go with the name. The only place to change it. */
export const product = {
  name: "Lookbook",
  claim: "Looking great outfit suggestions",
  promise: "Discover curated outfit combinations, save your favorites.",
  offer: "Pre-made outfits for you",
} as const;

/** The document title of a page: its own name first, so that tabs can be told apart. */
export function pageTitle(page?: string): string {
  return page === undefined ? `${product.name} · ${product.offer}` : `${page} · ${product.name}`;
}
