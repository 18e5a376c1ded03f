// The part of the page that is seen. A browser that is asked for it lays out the page first, so it is asked once after each change.

interface Viewport {
  /** Distance of its upper edge from the top of the document, in pixels. */
  top: number;
  width: number;
  height: number;
}

let known: Viewport | null = null;
const listeners = new Set<() => void>();

for (const change of ["scroll", "resize"]) {
  window.addEventListener(
    change,
    () => {
      known = null;
      for (const notify of listeners) notify();
    },
    { passive: true },
  );
}

/** What is seen since the last event about it. */
export function readViewport(): Viewport {
  known ??= { top: window.scrollY, width: window.innerWidth, height: window.innerHeight };
  return known;
}

/** Calls `notify` after each change. Returns a function that ends it. */
export function subscribeToViewport(notify: () => void): () => void {
  listeners.add(notify);
  return () => listeners.delete(notify);
}
