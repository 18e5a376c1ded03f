// Runs the tests of the site and of the console in Chromium, at desktop and phone size. site/setup.ts starts the site's server; the
// console's tests start their own.
//
// CHROMIUM names the browser. By default an installed Chromium or Chrome is used; none is downloaded. Debian's
// chromium-headless-shell comes first: it makes no windows, on which the whole browser spends a fifth of a test's time on a core.

import { existsSync } from "node:fs";
import { delimiter, join } from "node:path";
import { fileURLToPath } from "node:url";
import { defineConfig } from "@playwright/test";

/** Names of the program on Debian, Ubuntu, and in Google's packages. */
const names = [
  "chromium-headless-shell",
  "chromium",
  "chromium-browser",
  "google-chrome",
  "google-chrome-stable",
];
const folders = (process.env.PATH ?? "").split(delimiter);
const installed = names.flatMap((name) => folders.map((folder) => join(folder, name)));
const browser = [process.env.CHROMIUM ?? "", ...installed].find(existsSync);
if (browser === undefined) {
  throw new Error("No Chromium: install `chromium`, or name one by CHROMIUM=/path/to/it.");
}
// Read by support/chromium.
process.env.CHROMIUM = browser;

export default defineConfig({
  testDir: ".",
  testMatch: ["site/*.spec.ts", "console/*.spec.ts", "stack/*.spec.ts"],
  globalSetup: "./site/setup.ts",
  outputDir: "test-results",
  // A small machine that also runs PostgreSQL and the server can render two pages at the same time.
  workers: 2,
  fullyParallel: true,
  forbidOnly: true,
  // A build machine may stall for seconds. A test that passes only at the second try is reported as flaky and must be fixed.
  retries: process.env.CI ? 1 : 0,
  // Far more than anything takes on a machine that does nothing else: this one also runs other tests.
  timeout: 120_000,
  expect: { timeout: 30_000 },
  reporter: [["list"], ["./support/flaky-browser-tests.ts"]],
  use: {
    // The worker's own requests pass by the routes of a test. Tests about it allow it.
    serviceWorkers: "block",
    launchOptions: {
      executablePath: fileURLToPath(new URL("support/chromium", import.meta.url)),
      args: ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run"],
    },
    screenshot: "only-on-failure",
    // Moving pictures cost a sixth of a test's time on a core. The files in which they could matter ask for them.
    contextOptions: { reducedMotion: "reduce" },
  },
  projects: [
    { name: "desktop", use: { viewport: { width: 1440, height: 900 } } },
    {
      name: "phone",
      // `make test` runs on the phone what differs there, the tests tagged @phone; `make test-all` sets EVERY_SCREEN and runs all but
      // those tagged @once, which do not depend on the screen.
      grep: process.env.EVERY_SCREEN ? /./ : /@phone/,
      grepInvert: /@once/,
      use: {
        viewport: { width: 390, height: 844 },
        hasTouch: true,
        isMobile: true,
      },
    },
  ],
});
