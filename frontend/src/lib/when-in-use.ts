/** After this many milliseconds a page counts as in use, whatever its visitor does. */
const longestWaitMs = 8000;

const signs = ["pointermove", "pointerdown", "keydown", "scroll", "touchstart"] as const;

let use: Promise<void> | null = null;

/**
 * Resolves when the user begins to use the page, or has left it open for a while. Live connections are opened only then:
 * many visits end after a glance, and each would cost the visitor 16 kB of code and the server a socket.
 */
export function whenInUse(): Promise<void> {
  use ??= new Promise((resolve) => {
    const finish = () => {
      for (const sign of signs) window.removeEventListener(sign, finish, true);
      window.clearTimeout(timer);
      resolve();
    };
    for (const sign of signs) {
      window.addEventListener(sign, finish, { capture: true, passive: true });
    }
    const timer = window.setTimeout(finish, longestWaitMs);
  });
  return use;
}
