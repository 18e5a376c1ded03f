import { localStore } from "@/lib/browser-storage";

const collapsedKey = "lookbook:sidebar-collapsed";

/** Whether the sidebar was left collapsed; on a first visit, whether the window is too narrow for it. */
export function readCollapsed(): boolean {
  const stored = localStore.get(collapsedKey);
  return stored === null ? window.innerWidth < 1024 : stored === "true";
}

export function storeCollapsed(isCollapsed: boolean): void {
  localStore.set(collapsedKey, String(isCollapsed));
}
