/** The scripts of the screens, one file per screen, and when each is loaded: on hover, when the browser is idle, or when opened. */
import type { QueryClient } from "@tanstack/react-query";
import type { ComponentType } from "react";
import { type LazyModule, lazyModule, whenIdle } from "@/lib/lazy-module";

export interface ScreenModule {
  Screen: ComponentType;
  /** Requests the data that the screen shows first. */
  prefetch?: (client: QueryClient) => void;
}

/** The modules by the first segment of the path. */
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

/** Ignores a failed preload: opening the screen loads the script again and shows the error. */
const ignore = () => undefined;

/** Loads the script of the screen in the URL, which is needed as soon as the shell. */
export function loadOpenedScreen(pathname: string): void {
  screenModules[pathname.split("/")[1] || "overview"]?.load().catch(ignore);
}

/** Loads the script and the first data of a screen, when the pointer or the focus is on its link. */
export function prepareScreen(path: string, client: QueryClient): void {
  screenModules[path]?.load().then(({ prefetch }) => prefetch?.(client), ignore);
}

/** Time until other screens are preloaded, so that the opened screen loads its script and data first. */
const firstScreenMs = 1500;

/** Loads the font of values and SQL. Rows that are drawn before it is there are laid out a second time when it comes. */
function loadMonospaceFont(): void {
  document.fonts.load('1em "Geist Mono"').catch(ignore);
}

/**
 * Loads what other screens need, one file at a time while the browser is idle: the font of values, and the scripts of all screens,
 * so that opening a screen does not wait for its script. Returns a function that stops it.
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
  const timer = window.setTimeout(() => {
    whenIdle(loadMonospaceFont);
    next();
  }, firstScreenMs);
  return () => {
    isEnded = true;
    window.clearTimeout(timer);
  };
}
