/** How long to wait for it: hidden pages paint nothing. */
const patienceMs = 500;

/** Resolves when the page has shown its first text or picture, or soon after it was called where that is not known. */
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
