/** Query keys of catalogue items and brands, by the same rule as those of outfits. */
export const itemKeys = {
  detail: (slugOrId: string) => ["items", "detail", slugOrId],
  list: (filter: object) => ["items", "list", filter],
  ofOutfit: (outfitId: string, itemIds: readonly string[]) => [
    "items",
    "of-outfit",
    outfitId,
    itemIds,
  ],
  ofBrand: (brandId: string) => ["items", "of-brand", brandId],
  similar: (itemId: string) => ["items", "similar", itemId],
  liked: (userId: string) => ["items", "liked", userId],
  likedIds: (userId: string) => ["items", "liked-ids", userId],
} as const;

/** Query keys of notifications; they hold the addressee's id, so that signing out removes them. */
export const notificationKeys = {
  ofUser: (userId: string) => ["notifications", userId],
  list: (userId: string) => ["notifications", userId, "list"],
  latest: (userId: string) => ["notifications", userId, "latest"],
  unread: (userId: string) => ["notifications", userId, "unread"],
} as const;

/** Query keys of who follows whom. */
export const followKeys = {
  ids: (userId: string) => ["follows", "ids", userId],
} as const;

/** Query keys of whom a user has blocked. */
export const blockKeys = {
  ids: (userId: string) => ["blocks", "ids", userId],
  people: (userId: string) => ["blocks", "people", userId],
} as const;

/** Query keys of which mails a user wants. */
export const mailSettingsKeys = {
  notices: (userId: string) => ["mail-settings", userId],
} as const;

/** Query keys of collections. */
export const collectionKeys = {
  ofUser: (userId: string) => ["collections", "of-user", userId],
  shared: (collectionId: string) => ["collections", "shared", collectionId],
} as const;

/** Query keys of the styles that a user likes. */
export const likedStyleKeys = {
  ids: (userId: string) => ["liked-styles", userId],
} as const;

/** Query keys of creators' numbers. */
export const profileKeys = {
  numbers: () => ["profiles", "numbers"],
  numbersOf: (profileId: string) => ["profiles", "numbers", profileId],
} as const;

/** Query keys of outfits. Invalidating a shorter key refreshes every query whose key begins with it. */
export const outfitKeys = {
  all: () => ["outfits"],
  detail: (slugOrId: string) => ["outfits", "detail", slugOrId],
  details: () => ["outfits", "detail"],
  list: (filter: object) => ["outfits", "list", filter],
  latest: (count: number) => ["outfits", "latest", count],
  top: (period: string) => ["outfits", "top", period],
  tops: () => ["outfits", "top"],
  likeCount: (outfitId: string) => ["outfits", "like-count", outfitId],
  likeCounts: () => ["outfits", "like-count"],
  withItem: (itemId: string) => ["outfits", "with-item", itemId],
  withBrand: (brandId: string) => ["outfits", "with-brand", brandId],
  related: (outfitId: string) => ["outfits", "related", outfitId],
  byCreator: (userId: string, view: string) => ["outfits", "by-creator", userId, view],
  liked: (userId: string) => ["outfits", "liked", userId],
  likedIds: (userId: string) => ["outfits", "liked-ids", userId],
  bookmarked: (userId: string) => ["outfits", "bookmarked", userId],
  bookmarkedIds: (userId: string) => ["outfits", "bookmarked-ids", userId],
  followed: (userId: string) => ["outfits", "followed", userId],
  collected: (collectionId: string) => ["outfits", "collected", collectionId],
  withStyle: (styleId: string) => ["outfits", "with-style", styleId],
  suggested: (userId: string, likedId: string) => ["outfits", "suggested", userId, likedId],
  link: (outfitId: string) => ["outfits", "link", outfitId],
  saves: (userId: string, outfitId: string) => ["outfits", "saves", userId, outfitId],
} as const;
