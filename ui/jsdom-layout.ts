/** Gives jsdom, which has no layout, what components ask a browser for: observers that never fire, and a desktop's sizes. */
class InertObserver {
  observe() {}
  unobserve() {}
  disconnect() {}
}

for (const name of ["ResizeObserver", "IntersectionObserver"]) {
  Object.defineProperty(globalThis, name, {
    value: InertObserver,
    configurable: true,
    writable: true,
  });
}
Object.defineProperty(HTMLElement.prototype, "clientWidth", {
  get: () => 1100,
  configurable: true,
});
Object.defineProperty(window, "matchMedia", {
  configurable: true,
  writable: true,
  value: (media: string) => ({
    media,
    matches: false,
    addEventListener() {},
    removeEventListener() {},
  }),
});
