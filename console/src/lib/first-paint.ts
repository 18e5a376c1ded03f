/** Hidden pages paint nothing, so nobody waits longer than this. */
const patienceMs = 500;

/** Resolves when the page has painted its first text or picture, at the latest after half a second. */
export function firstPaint(): Promise<void> {
  return new Promise((resolve) => {
    const observer = new PerformanceObserver((entries) => {
      if (entries.getEntriesByName("first-contentful-paint").length > 0) finish();
    });
    const finish = () => {
      observer.disconnect();
      clearTimeout(timer);
      resolve();
    };
    const timer = setTimeout(finish, patienceMs);
    observer.observe({ type: "paint", buffered: true });
  });
}
