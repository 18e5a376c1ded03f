/**
 * Runs `change` as a view transition: `from` morphs into the element that has the same `view-transition-name` afterwards.
 * Without browser support, or when reduced motion is preferred, `change` runs without an animation.
 */
export function growFrom(
  from: Element | null,
  name: string,
  change: () => Promise<void> | void,
): void {
  const prefersReducedMotion = window.matchMedia("(prefers-reduced-motion: reduce)").matches;
  if (
    prefersReducedMotion ||
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
  // Both promises reject when the next transition starts early. The change itself has been made.
  transition.ready.catch(() => undefined);
  transition.finished.catch(() => undefined);
}
