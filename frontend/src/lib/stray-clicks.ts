/**
 * The second click of a double click. Where the first one has taken away what was clicked, such as a chip or a row, or has opened
 * something over it, the second one would act on what has moved there, which nobody has chosen.
 */

/** Milliseconds within which a second click belongs to the first one. Systems take up to 500 for a double click. */
const doubleClickMs = 500;
/** Pixels by which a pointer, or a thumb, moves between the two. */
const doubleClickReach = { mouse: 10, touch: 48 };

function reachOf(event: MouseEvent): number {
  // Clicks of some browsers have no `pointerType`.
  const type = "pointerType" in event ? event.pointerType : "";
  const isTouch = type ? type === "touch" : window.matchMedia("(pointer: coarse)").matches;
  return isTouch ? doubleClickReach.touch : doubleClickReach.mouse;
}

/** Whether the second of two clicks comes so soon, and so near, that it belongs to a double click. */
export function isDoubleClick(first: MouseEvent, second: MouseEvent): boolean {
  return (
    second.timeStamp - first.timeStamp < doubleClickMs &&
    Math.hypot(second.clientX - first.clientX, second.clientY - first.clientY) < reachOf(second)
  );
}

function controlOf({ target }: Event): Element | null {
  return target instanceof Element ? target.closest("a, button, summary") : null;
}

/** Whether the control can still be clicked where it was. */
function isStillAt(control: Element, { clientX, clientY }: MouseEvent): boolean {
  return control.isConnected && control.contains(document.elementFromPoint(clientX, clientY));
}

interface Click {
  event: MouseEvent;
  control: Element;
}

/** Whether the click is meant for a control that was at this place before, and acts on another one. */
function isStray(event: MouseEvent, control: Element, last: Click): boolean {
  return (
    control !== last.control &&
    isDoubleClick(last.event, event) &&
    !isStillAt(last.control, last.event)
  );
}

/** From now on such clicks do nothing, whatever is below them. */
export function ignoreStrayClicks(): void {
  let last: Click | null = null;
  window.addEventListener(
    "click",
    (event) => {
      const control = controlOf(event);
      // Keys and screen readers click without a pointer, on what they have chosen.
      if (control === null || event.detail === 0) {
        last = null;
        return;
      }
      if (last !== null && isStray(event, control, last)) {
        event.preventDefault();
        event.stopImmediatePropagation();
      }
      last = { event, control };
    },
    { capture: true },
  );
  // Who types in between has seen what is there.
  for (const type of ["keydown", "input"]) {
    window.addEventListener(type, () => (last = null), { capture: true, passive: true });
  }
}
