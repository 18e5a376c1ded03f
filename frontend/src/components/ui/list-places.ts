import { readViewport } from "./viewport";

export interface Place {
  width: number;
  /** Distance from the top of the document, which the window's scroll position is compared with. */
  top: number;
}

/** Last place of each grid by its label, and how wide the window was then. */
const lastPlaces = new Map<string, { place: Place; windowWidth: number }>();

/** Measures a list. The browser lays out the page for it, unless it has just done that. */
function measurePlace(list: HTMLElement): Place {
  return { width: list.clientWidth, top: list.getBoundingClientRect().top + window.scrollY };
}

/** Measures a list and keeps its place for {@link lastPlaceOf}. */
export function notePlace(label: string, list: HTMLElement): Place {
  const place = measurePlace(list);
  lastPlaces.set(label, { place, windowWidth: readViewport().width });
  return place;
}

/**
 * Where the grid with this label was last, in a window of the same width. Going back renders the full height at once, which scroll
 * restoration needs.
 */
export function lastPlaceOf(label: string): Place | null {
  const last = lastPlaces.get(label);
  return last?.windowWidth === readViewport().width ? last.place : null;
}

/** Notes the places of lists that the page showed before the app was started: their cards need not wait for a measurement. */
export function rememberPlaces(container: HTMLElement): void {
  for (const list of container.querySelectorAll<HTMLElement>("[data-list]")) {
    notePlace(list.dataset.list ?? "", list);
  }
}
