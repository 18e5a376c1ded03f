/**
 * Does a click on the first view once the app has rendered the same view in its place: whoever taps a card that can be seen is not to
 * tap in vain. The newest click counts, unless the page was scrolled since.
 */
export function keepEarlyTap(root: HTMLElement, view: HTMLElement): void {
  let again = () => {};
  addEventListener("click", ({ clientX, clientY, ctrlKey, metaKey, shiftKey, altKey }) => {
    const place = scrollY;
    // Meant for another tab or window, and not for this page.
    if (ctrlKey || metaKey || shiftKey || altKey) return;
    again = () => {
      if (scrollY !== place) return;
      const target = document.elementFromPoint(clientX, clientY);
      const control = target?.closest<HTMLElement>("a,button,input");
      control?.focus();
      control?.click();
    };
  });
  new MutationObserver((_, observer) => {
    if (view.isConnected) return;
    observer.disconnect();
    again();
  }).observe(root, { childList: true });
}
