// Names the tests that passed only at the second try in the file of the variable FLAKY_TESTS; the run lists them at its end.

import { appendFileSync } from "node:fs";
import type { Reporter, TestCase } from "vitest/node";

/** Adds a test to the list. */
export function reportFlaky(suite: string, name: string): void {
  const file = process.env.FLAKY_TESTS;
  if (file) {
    appendFileSync(file, `${suite}: ${name}\n`);
  }
}

/** Vitest's reporter. */
export class FlakyTests implements Reporter {
  onTestCaseResult(test: TestCase): void {
    if (test.diagnostic()?.flaky) {
      reportFlaky(test.module.relativeModuleId, test.fullName);
    }
  }
}
