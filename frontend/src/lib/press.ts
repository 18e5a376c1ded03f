/**
 * Whether a mouse button or a finger is down. What changes the page between press and release moves what is under the pointer away,
 * and the click is lost: it waits until the click has been. Loaded when somebody begins to use the page.
 */
import { notifyManager } from "@tanstack/react-query";

/** Milliseconds after which a press is no click any more. Not every release is told, such as that of a scrollbar. */
const longestPressMs = 1500;
/** Milliseconds that the click of a finger may take after its release. Where the finger has drawn or swiped there is none. */
const clickDelayMs = 150;
/** What ends a press at once; the first is what was waited for. */
const ends = ["click", "keydown", "contextmenu", "pointercancel", "dragend"];

let endsAt = 0;
let timer = 0;
const waiting = new Set<() => void>();

function endIn(ms: number): void {
  endsAt = performance.now() + ms;
  window.clearTimeout(timer);
  // Also for an end without delay: those who listen to the click come first.
  timer = window.setTimeout(() => {
    const released = [...waiting];
    waiting.clear();
    for (const act of released) act();
  }, ms);
}

function isPressed(): boolean {
  return performance.now() < endsAt;
}

/** Acts when nothing is pressed: at once, or after the click. */
export function whenReleased(act: () => void): void {
  if (isPressed()) waiting.add(act);
  else act();
}

/** Lists that arrive while something is pressed are shown after the click. */
export function holdLists(): void {
  notifyManager.setScheduler((notify) => whenReleased(() => setTimeout(notify)));
}

function listen(type: string, heard: (event: Event) => unknown): void {
  window.addEventListener(type, heard, { capture: true, passive: true });
}

listen("pointerdown", (event) => {
  // The other buttons open menus, whose end may not be told.
  if ((event as PointerEvent).button === 0) endIn(longestPressMs);
});
listen("pointerup", () => {
  if (isPressed()) endIn(clickDelayMs);
});
function end(): void {
  if (isPressed()) endIn(0);
}

for (const type of ends) listen(type, end);
// A field that loses the focus to what is pressed tells both here, too, and the press goes on.
listen("blur", ({ target }) => target === window && end());
// The list of a select takes its release.
listen("change", ({ target }) => target instanceof HTMLSelectElement && end());
