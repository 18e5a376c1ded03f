import "@testing-library/jest-dom/vitest";
import "@ui/jsdom-layout";
import { cleanup, configure } from "@testing-library/react";
import { afterEach } from "vitest";

// On a busy machine an update may take more than the default of one second.
configure({ asyncUtilTimeout: 20_000 });

afterEach(() => {
  cleanup();
  localStorage.clear();
  sessionStorage.clear();
});
