/** Key of everything that only administrators read. The admin area removes it from the cache when it is left. */
export const adminKey = ["admin"] as const;
