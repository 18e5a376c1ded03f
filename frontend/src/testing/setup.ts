import "@testing-library/jest-dom/vitest";
import { cleanup, configure } from "@testing-library/react";
import { afterEach, vi } from "vitest";

// A machine that does other things at the same time may take a while; what comes, comes.
configure({ asyncUtilTimeout: 5000 });

// jsdom lays nothing out: what asks for sizes and media gets a desktop that never changes.
class NeverObserves {
  observe() {}
  unobserve() {}
  disconnect() {}
}
vi.stubGlobal("ResizeObserver", NeverObserves);
vi.stubGlobal("IntersectionObserver", NeverObserves);
Object.defineProperty(HTMLElement.prototype, "clientWidth", { get: () => 1100 });
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
