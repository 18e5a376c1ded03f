/** Addresses of the site's pages. Every link is built here. */
export const paths = {
  explore: "/",
  auth: "/auth",
  signUp: "/auth?mode=signup",
  discovery: "/discovery",
  createOutfit: "/create-outfit",
  editOutfit: (id: string) => `/create-outfit?outfit=${encodeURIComponent(id)}`,
  notifications: "/notifications",
  myProfile: "/profile",
  myOutfits: "/profile?tab=outfits",
  mySubmissions: "/profile?tab=submissions",
  trainingPhotos: "/profile?tab=training-images",
  editProfile: "/profile/edit",
  profileSettings: "/profile-settings",
  welcome: "/welcome",
  admin: (section: string) => `/admin/${section}`,
  terms: "/terms",
  privacy: "/privacy",
  profile: (username: string) => `/${encodeURIComponent(username)}`,
  outfit: (id: string) => `/look/${encodeURIComponent(id)}`,
  item: (id: string) => `/product/${encodeURIComponent(id)}`,
  collection: (id: string) => `/collections/${encodeURIComponent(id)}`,
  brand: (id: string) => `/brands/${encodeURIComponent(id)}`,
} as const;

/** History state of a redirect to /auth: the path to return to afterwards. */
export interface ReturnState {
  from?: string;
}

/**
 * Returns the path in a {@link ReturnState}. URLs of other sites become the home page, so that a link cannot redirect
 * users elsewhere.
 */
export function returnPath(state: unknown): string {
  if (typeof state !== "object" || state === null || !("from" in state)) return paths.explore;
  const from = state.from;
  if (typeof from !== "string" || !from.startsWith("/") || from.startsWith("//"))
    return paths.explore;
  return from.startsWith(paths.auth) ? paths.explore : from;
}
