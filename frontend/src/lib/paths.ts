/** The site's addresses. Links are made here, so that a moved page moves in one place. */
export const paths = {
  explore: "/",
  auth: "/auth",
  profile: (username: string) => `/${encodeURIComponent(username)}`,
  outfit: (id: string) => `/look/${encodeURIComponent(id)}`,
} as const;

/** What a redirect to /auth remembers: where to go back to afterwards. */
export interface ReturnState {
  from?: string;
}

/** Only addresses of this site may be returned to; anything else becomes the home page. */
export function returnPath(state: unknown): string {
  if (typeof state !== "object" || state === null || !("from" in state)) return paths.explore;
  const from = state.from;
  if (typeof from !== "string" || !from.startsWith("/") || from.startsWith("//"))
    return paths.explore;
  return from.startsWith(paths.auth) ? paths.explore : from;
}
