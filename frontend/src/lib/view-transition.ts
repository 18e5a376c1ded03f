/**
 * Runs a change of the page as a view transition in which `from` becomes whatever carries the same
 * `view-transition-name` afterwards. Without browser support, or with reduced motion, it just runs.
 */
export function growFrom(
  from: Element | null,
  name: string,
  change: () => Promise<void> | void,
): void {
  const still = window.matchMedia("(prefers-reduced-motion: reduce)").matches;
  if (
    still ||
    typeof document.startViewTransition !== "function" ||
    !(from instanceof HTMLElement)
  ) {
    void change();
    return;
  }
  from.style.viewTransitionName = name;
  const transition = document.startViewTransition(async () => {
    from.style.viewTransitionName = "";
    await change();
  });
  // A transition that is overtaken by the next one rejects; the change itself has happened.
  transition.ready.catch(() => undefined);
  transition.finished.catch(() => undefined);
}
