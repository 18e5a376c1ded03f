import { useSyncExternalStore } from "react";
import { localStore } from "@/lib/browser-storage";

/** The possible themes; `system` is the default and follows the operating system. `public/first.js` applies the stored choice. */
export const themeChoices = ["system", "light", "dark"] as const;
export type ThemeChoice = (typeof themeChoices)[number];

const key = "console:theme";
const themeColor = { light: "#f6f4f0", dark: "#131110" };
const systemIsDark = window.matchMedia("(prefers-color-scheme: dark)");
const listeners = new Set<() => void>();

export function currentThemeChoice(): ThemeChoice {
  const stored = localStore.get(key);
  return themeChoices.find((choice) => choice === stored) ?? "system";
}

function applyTheme(): void {
  const choice = currentThemeChoice();
  const isDark = choice === "dark" || (choice === "system" && systemIsDark.matches);
  const theme = isDark ? "dark" : "light";
  document.documentElement.dataset.theme = theme;
  document.querySelector('meta[name="theme-color"]')?.setAttribute("content", themeColor[theme]);
  for (const listener of listeners) listener();
}

export function chooseTheme(choice: ThemeChoice): void {
  if (choice === "system") localStore.remove(key);
  else localStore.set(key, choice);
  applyTheme();
}

systemIsDark.addEventListener("change", applyTheme);
// Another tab changed the choice; a null key means that the storage was cleared.
window.addEventListener("storage", (event) => {
  if (event.key === key || event.key === null) applyTheme();
});

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

export function useThemeChoice(): ThemeChoice {
  return useSyncExternalStore(subscribe, currentThemeChoice);
}

/** The theme that is shown, for canvases, which take no colours from stylesheets. */
export function useTheme(): "light" | "dark" {
  return useSyncExternalStore(subscribe, () =>
    document.documentElement.dataset.theme === "dark" ? "dark" : "light",
  );
}
