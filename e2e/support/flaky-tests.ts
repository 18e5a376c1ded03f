// Names the tests that passed only at the second try in the file of the variable FLAKY_TESTS; the run lists them at its end.

import { appendFileSync } from "node:fs";
import { stripVTControlCharacters } from "node:util";
import type { Reporter, TestCase } from "vitest/node";

/** Adds a test to the list, with the beginning of what it said when it failed. */
export function reportFlaky(suite: string, name: string, message = ""): void {
  const file = process.env.FLAKY_TESTS;
  if (file) {
    const reason = stripVTControlCharacters(message).replace(/\s+/g, " ").slice(0, 300);
    appendFileSync(file, `${suite}: ${name}${reason === "" ? "" : ` (${reason})`}\n`);
  }
}

/** Vitest's reporter. */
export class FlakyTests implements Reporter {
  onTestCaseResult(test: TestCase): void {
    if (test.diagnostic()?.flaky) {
      reportFlaky(test.module.relativeModuleId, test.fullName, test.result().errors?.[0]?.message);
    }
  }
}
