// The site's journeys in a real Chromium, on a wide screen and on a phone (site/setup.ts starts the server).
//
// CHROMIUM names the browser; by default the machine's own is taken, and none is downloaded.

import { existsSync } from "node:fs";
import { delimiter, join } from "node:path";
import { defineConfig } from "@playwright/test";

/** As Debian, Ubuntu and Google name it. */
const names = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];
const installed = (process.env.PATH ?? "")
  .split(delimiter)
  .flatMap((folder) => names.map((name) => join(folder, name)));
const browser = [process.env.CHROMIUM ?? "", ...installed].find(existsSync);
if (browser === undefined) {
  throw new Error("No Chromium: install `chromium`, or name one by CHROMIUM=/path/to/it.");
}

export default defineConfig({
  testDir: "site",
  testMatch: "*.spec.ts",
  globalSetup: "./site/setup.ts",
  outputDir: "test-results",
  // Two pages at once are what a small machine that also runs PostgreSQL and the server can draw.
  workers: 2,
  fullyParallel: true,
  forbidOnly: true,
  // A build machine may stall for seconds. What passes only at the second try is reported as flaky, and is to be mended.
  retries: process.env.CI ? 1 : 0,
  timeout: 60_000,
  expect: { timeout: 15_000 },
  reporter: [["list"]],
  use: {
    launchOptions: {
      executablePath: browser,
      args: ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run"],
    },
    screenshot: "only-on-failure",
  },
  projects: [
    { name: "desktop", use: { viewport: { width: 1440, height: 900 } } },
    {
      name: "phone",
      // What no screen changes is shown once. The phone also stands for those who want no motion.
      grepInvert: /@once/,
      use: {
        viewport: { width: 390, height: 844 },
        hasTouch: true,
        isMobile: true,
        contextOptions: { reducedMotion: "reduce" },
      },
    },
  ],
});
