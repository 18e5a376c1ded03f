type Listen = typeof window.addEventListener;

/**
 * Files of tests share a window, and each loads our modules anew. What these listen to on the window ends with the file; otherwise
 * those of an earlier file would answer, too. `afterAll` is the test runner's.
 */
export function endListenersWithFile(afterAll: (end: () => void) => void): void {
  const listen = window.addEventListener;
  const added: Parameters<Listen>[] = [];
  window.addEventListener = (...listener: Parameters<Listen>) => {
    added.push(listener);
    listen(...listener);
  };
  afterAll(() => {
    window.addEventListener = listen;
    for (const [type, listener, options] of added) {
      window.removeEventListener(type, listener, options);
    }
  });
}
