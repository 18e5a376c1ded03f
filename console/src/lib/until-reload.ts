/** What is kept in the memory of this page alone, on whatever screen it was typed: the browser asks before a reload takes it. */
const checks: (() => boolean)[] = [];

/** `isHeld` says whether there is something that a reload would lose. To be called once by each place that keeps such things. */
export function askBeforeReload(isHeld: () => boolean): void {
  checks.push(isHeld);
}

/** Whether a reload would lose something of this page, whoever has typed it. */
export const isAnythingHeld = (): boolean => checks.some((isHeld) => isHeld());

window.addEventListener("beforeunload", (event) => {
  if (isAnythingHeld()) event.preventDefault();
});
