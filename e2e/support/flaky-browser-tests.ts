// Playwright's reporter of tests that passed only at the second try, see flaky-tests.ts.

import type { FullConfig, Reporter, Suite } from "@playwright/test/reporter";
import { reportFlaky } from "./flaky-tests.ts";

export default class FlakyBrowserTests implements Reporter {
  #suite: Suite | undefined;

  onBegin(_config: FullConfig, suite: Suite): void {
    this.#suite = suite;
  }

  onEnd(): void {
    for (const test of this.#suite?.allTests() ?? []) {
      if (test.outcome() === "flaky") {
        // Project, file and title; the first part is empty.
        const [, project, file, ...title] = test.titlePath();
        const [error] = test.results.flatMap((result) => result.errors);
        reportFlaky(`${file} (${project})`, title.join(" > "), error?.message);
      }
    }
  }

  printsToStdio(): boolean {
    return false;
  }
}
