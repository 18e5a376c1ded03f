/**
 * Whether a mouse button or a finger is down. A change of the page between press and release can move the pressed control away from under the
 * pointer, and the click is lost, so such changes wait until the click has happened. Loaded when somebody begins to use the page.
 */
import { notifyManager } from "@tanstack/react-query";

/** Milliseconds after which a press counts as ended, because not every release has an event (that of a scrollbar has none). */
const longestPressMs = 1500;
/** Milliseconds in which the click follows the release of a finger. After a swipe there is none. */
const clickDelayMs = 150;
/** Events that end a press; the click is the usual one. */
const endEvents = ["click", "keydown", "contextmenu", "pointercancel", "dragend"];

let endsAt = 0;
let timer = 0;
const waiting = new Set<() => void>();

function endPressAfter(ms: number): void {
  endsAt = performance.now() + ms;
  window.clearTimeout(timer);
  // A task of its own, so that the listeners of the click run first.
  timer = window.setTimeout(() => {
    const released = [...waiting];
    waiting.clear();
    for (const act of released) act();
  }, ms);
}

function isPressed(): boolean {
  return performance.now() < endsAt;
}

/** Calls the function when nothing is pressed: at once, or after the click. */
export function whenReleased(act: () => void): void {
  if (isPressed()) waiting.add(act);
  else act();
}

/** Lists that arrive while something is pressed are shown after the click. */
export function holdLists(): void {
  notifyManager.setScheduler((notify) => whenReleased(() => setTimeout(notify)));
}

/** Clicks act on what was pressed, also while lists arrive, and the second one of a double click on nothing else. */
export function guardClicks(): void {
  holdLists();
  import("@/lib/stray-clicks").then(
    ({ ignoreStrayClicks }) => ignoreStrayClicks(),
    // Where the file cannot be loaded, second clicks act as they always did.
    () => undefined,
  );
}

function listen(type: string, listener: (event: Event) => unknown): void {
  window.addEventListener(type, listener, { capture: true, passive: true });
}

listen("pointerdown", (event) => {
  // Other buttons open menus of the system, whose end may have no event.
  if ((event as PointerEvent).button === 0) endPressAfter(longestPressMs);
});
listen("pointerup", () => {
  if (isPressed()) endPressAfter(clickDelayMs);
});
function endPress(): void {
  if (isPressed()) endPressAfter(0);
}

for (const type of endEvents) listen(type, endPress);
// Capturing listeners get the blur of a field as well, and then the press goes on.
listen("blur", ({ target }) => target === window && endPress());
// The native list of a select receives the release.
listen("change", ({ target }) => target instanceof HTMLSelectElement && endPress());
