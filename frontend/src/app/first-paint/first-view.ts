/** What is painted of a page before the app has loaded. */
export interface FirstView {
  page: HTMLElement;
  /** Adds what depends on rows that were asked for. Called when the page is in the document. */
  complete?: () => Promise<void>;
}
