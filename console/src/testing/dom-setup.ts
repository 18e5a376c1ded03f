import "@testing-library/jest-dom/vitest";
import "@ui/jsdom-layout";
import { cleanup, configure } from "@testing-library/react";
import { afterEach } from "vitest";

// On a busy machine an update may take more than the default of one second.
configure({ asyncUtilTimeout: 20_000 });

// Lists that draw only their visible rows need elements with the size of a desktop's work area.
Object.defineProperty(HTMLElement.prototype, "offsetHeight", { get: () => 600 });
Object.defineProperty(HTMLElement.prototype, "clientHeight", { get: () => 600 });
Object.defineProperty(HTMLElement.prototype, "offsetWidth", { get: () => 1100 });
HTMLElement.prototype.scrollIntoView = () => undefined;

afterEach(() => {
  cleanup();
  localStorage.clear();
  sessionStorage.clear();
});
