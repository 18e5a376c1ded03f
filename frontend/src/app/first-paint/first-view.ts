/** What is drawn of a page before the app arrives. */
export interface FirstView {
  page: HTMLElement;
  /** Adds what depends on rows that were asked for. Called when the page is in the document. */
  complete?: () => Promise<void>;
}
