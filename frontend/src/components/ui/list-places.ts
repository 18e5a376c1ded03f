export interface Place {
  width: number;
  /** Distance from the top of the document, which the window's scroll position is compared with. */
  top: number;
}

/** Last place of each grid by its label. Going back renders the full height at once, which scroll restoration needs. */
export const lastPlaces = new Map<string, Place>();

export function measurePlace(list: HTMLElement): Place {
  return { width: list.clientWidth, top: list.getBoundingClientRect().top + window.scrollY };
}

/** Notes the places of lists that the page showed before the app was started: their cards need not wait for a measurement. */
export function rememberPlaces(container: HTMLElement): void {
  for (const list of container.querySelectorAll<HTMLElement>("[data-list]")) {
    lastPlaces.set(list.dataset.list ?? "", measurePlace(list));
  }
}
