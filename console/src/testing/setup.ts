import "@testing-library/jest-dom/vitest";
import { cleanup, configure } from "@testing-library/react";
import { afterEach, vi } from "vitest";

// On a busy machine an update may take more than the default of one second.
configure({ asyncUtilTimeout: 20_000 });

// jsdom has no layout: observers never fire, and elements have the size of a desktop's work area.
class InertObserver {
  observe() {}
  unobserve() {}
  disconnect() {}
}
vi.stubGlobal("ResizeObserver", InertObserver);
vi.stubGlobal("IntersectionObserver", InertObserver);
Object.defineProperty(HTMLElement.prototype, "clientWidth", { get: () => 1100 });
Object.defineProperty(HTMLElement.prototype, "offsetHeight", { get: () => 600 });
Object.defineProperty(HTMLElement.prototype, "offsetWidth", { get: () => 1100 });
HTMLElement.prototype.scrollIntoView = () => undefined;
Object.defineProperty(window, "matchMedia", {
  value: (media: string) => ({
    media,
    matches: false,
    addEventListener() {},
    removeEventListener() {},
  }),
});

afterEach(() => {
  cleanup();
  localStorage.clear();
  sessionStorage.clear();
});
