import "@testing-library/jest-dom/vitest";
import "@ui/jsdom-layout";
import { cleanup, configure } from "@testing-library/react";
import { afterEach } from "vitest";

// On a busy machine an update may take more than the default of one second.
configure({ asyncUtilTimeout: 20_000 });

// Lists that draw only their visible rows need elements with the size of a desktop's work area.
const sizes = { offsetHeight: 600, clientHeight: 600, offsetWidth: 1100 };
for (const [name, size] of Object.entries(sizes)) {
  Object.defineProperty(HTMLElement.prototype, name, { get: () => size, configurable: true });
}
HTMLElement.prototype.scrollIntoView = () => undefined;

afterEach(() => {
  cleanup();
  localStorage.clear();
  sessionStorage.clear();
});
