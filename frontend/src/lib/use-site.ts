import { useSyncExternalStore } from "react";
import { currentSite, type Site, subscribeToSite } from "@/lib/site";

/** The settings of the site. Apart from `lib/site.ts`, which is also part of the first view's script and knows no React. */
export function useSite(): Site {
  return useSyncExternalStore(subscribeToSite, currentSite);
}
