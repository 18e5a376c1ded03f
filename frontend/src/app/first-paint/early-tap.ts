/** What can be operated of a page. */
const operable = "a,button,input";

/**
 * Does a click on the first view once the app has rendered the same view in its place: whoever taps a card that can be seen is not to
 * tap in vain. The newest click counts, unless the page was scrolled since.
 */
export function keepEarlyTap(root: HTMLElement, view: HTMLElement): void {
  let tap: MouseEvent | undefined;
  let scrolled = 0;
  const listen = (event: MouseEvent) => {
    tap = event;
    scrolled = scrollY;
  };
  addEventListener("click", listen);
  new MutationObserver((_, observer) => {
    if (view.isConnected) return;
    observer.disconnect();
    removeEventListener("click", listen);
    if (tap === undefined || scrollY !== scrolled) return;
    const target = document.elementFromPoint(tap.clientX, tap.clientY);
    const control = target?.closest<HTMLElement>(operable);
    control?.focus();
    control?.click();
  }).observe(root, { childList: true });
}
