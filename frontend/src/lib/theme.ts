import { useLayoutEffect, useSyncExternalStore } from "react";
import { localStore } from "@/lib/browser-storage";

/** The two sets of colours in `ui/tokens.css`. */
export type Theme = "dark" | "light";

/** The possible appearances. By page is the default: the dashboard is dark and the reading pages are light. */
export const appearances = ["by-page", "light", "dark", "system"] as const;
export type Appearance = (typeof appearances)[number];

/** Where the choice is stored. `index.html` reads it too, before the first paint. */
export const appearanceKey = "lookbook:appearance";

const themeColor: Record<Theme, string> = { dark: "#131110", light: "#f6f4f0" };
const systemIsDark = window.matchMedia("(prefers-color-scheme: dark)");

let pageTheme: Theme = "dark";
const listeners = new Set<() => void>();

export function currentAppearance(): Appearance {
  const stored = localStore.get(appearanceKey);
  return appearances.find((appearance) => appearance === stored) ?? "by-page";
}

/** The theme of a page under a choice. */
export function themeFor(appearance: Appearance, page: Theme, isSystemDark: boolean): Theme {
  if (appearance === "by-page") return page;
  if (appearance === "system") return isSystemDark ? "dark" : "light";
  return appearance;
}

export function chooseAppearance(appearance: Appearance): void {
  if (appearance === "by-page") localStore.remove(appearanceKey);
  else localStore.set(appearanceKey, appearance);
  announceChange();
}

/** Sets the theme on <html>, because dialogs, menus and toasts are rendered outside the layout. */
function applyTheme(): void {
  const theme = themeFor(currentAppearance(), pageTheme, systemIsDark.matches);
  document.documentElement.dataset.theme = theme;
  document.querySelector('meta[name="theme-color"]')?.setAttribute("content", themeColor[theme]);
}

function announceChange(): void {
  applyTheme();
  for (const listener of listeners) listener();
}

systemIsDark.addEventListener("change", announceChange);
// Another tab changed the choice; a null key means that the storage was cleared.
window.addEventListener("storage", ({ key }) => {
  if (key === appearanceKey || key === null) announceChange();
});

/** Sets the theme that this page has when the visitor has not chosen another. */
export function usePageTheme(theme: Theme): void {
  useLayoutEffect(() => {
    pageTheme = theme;
    applyTheme();
  }, [theme]);
}

export function useAppearance(): Appearance {
  return useSyncExternalStore((listener) => {
    listeners.add(listener);
    return () => listeners.delete(listener);
  }, currentAppearance);
}
