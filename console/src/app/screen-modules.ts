/** The scripts of the screens: one file per screen, loaded before it is opened where that can be foreseen. */
import type { QueryClient } from "@tanstack/react-query";
import type { ComponentType } from "react";
import { type LazyModule, lazyModule } from "@/lib/lazy-module";

export interface ScreenModule {
  Screen: ComponentType;
  /** Asks for what the screen shows first. */
  prefetch?: (client: QueryClient) => void;
}

/** By the first segment of the path. */
export const screenModules: Readonly<Record<string, LazyModule<ScreenModule>>> = {
  overview: lazyModule(() => import("@/screens/overview/screen")),
  tables: lazyModule(() => import("@/screens/tables/screen")),
  schema: lazyModule(() => import("@/screens/schema/screen")),
  policies: lazyModule(() => import("@/screens/policies/screen")),
  sql: lazyModule(() => import("@/screens/sql/screen")),
  api: lazyModule(() => import("@/screens/api/screen")),
  users: lazyModule(() => import("@/screens/users/screen")),
  storage: lazyModule(() => import("@/screens/storage/screen")),
  logs: lazyModule(() => import("@/screens/logs/screen")),
  mail: lazyModule(() => import("@/screens/mail/screen")),
  settings: lazyModule(() => import("@/screens/settings/screen")),
  audit: lazyModule(() => import("@/screens/audit/screen")),
};

/** Where a script cannot be loaded, the screen says so when it is opened. */
const ignore = () => undefined;

/** Loads the script of the screen that the address names; it is needed as soon as the shell. */
export function loadOpenedScreen(pathname: string): void {
  screenModules[pathname.split("/")[1] || "overview"]?.load().catch(ignore);
}

/** Loads the script and the first data of a screen to which somebody is about to go. */
export function prepareScreen(path: string, client: QueryClient): void {
  screenModules[path]?.load().then(({ prefetch }) => prefetch?.(client), ignore);
}

/** The opened screen loads its own script and data first. */
const firstScreenMs = 1500;

/**
 * Loads the scripts of all screens, one at a time while the browser has nothing else to do, so that opening one waits for no
 * file. Returns what ends it.
 */
export function loadScreensWhenIdle(): () => void {
  const rest = Object.values(screenModules);
  let isEnded = false;
  function next(): void {
    const module = rest.shift();
    if (module === undefined) return;
    whenIdle(() => {
      if (!isEnded) module.load().then(next, ignore);
    });
  }
  const timer = window.setTimeout(next, firstScreenMs);
  return () => {
    isEnded = true;
    window.clearTimeout(timer);
  };
}

/** Safari has no idle callbacks; there, a moment after the last script has to do. */
function whenIdle(run: () => void): void {
  if ("requestIdleCallback" in window) window.requestIdleCallback(run);
  else globalThis.setTimeout(run, 200);
}
