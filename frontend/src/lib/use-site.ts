import { useSyncExternalStore } from "react";
import { currentSite, type Site, subscribeToSite } from "@/lib/site";

/**
 * The settings of the site. Separate from `lib/site.ts`, which is also part of the first view's script and must not
 * import React.
 */
export function useSite(): Site {
  return useSyncExternalStore(subscribeToSite, currentSite);
}
