// What must not happen on any page of any journey: an error in the console, an exception that nobody
// caught, a request that failed.

import type { BrowserContext, Page } from "@playwright/test";

/** A refusal that a journey provokes on purpose. */
export interface ExpectedRefusal {
  status: number;
  path: string;
}

export interface Watch {
  /** Everything that went wrong so far, one line each. */
  readonly troubles: string[];
  /** Says beforehand that a request to this path will be refused with this status. */
  expectRefusal(status: number, path: string): void;
}

/** Follows every page of the browser context, the inbox at this address included. */
export function watch(context: BrowserContext, inbox: string): Watch {
  const troubles: string[] = [];
  const expected: ExpectedRefusal[] = [];
  const isExpected = (status: number, url: string) =>
    expected.some((one) => one.status === status && new URL(url).pathname === one.path);

  context.on("page", (page: Page) => {
    page.on("pageerror", (error) => troubles.push(`exception: ${error.message}`));
    page.on("console", (message) => {
      // Chromium repeats in the console what `response` below reports with more detail.
      const isRepeated = message.text().startsWith("Failed to load resource");
      // Playwright reaches into the frame of a mail, where no script may run.
      const isSandbox = page.url().startsWith(inbox) && message.text().startsWith("Blocked script");
      if (message.type() === "error" && !isRepeated && !isSandbox) {
        troubles.push(`console: ${message.text()}`);
      }
    });
    page.on("requestfailed", (request) => {
      const reason = request.failure()?.errorText ?? "";
      // The page let go of it itself: a query nobody waits for any more, a picture scrolled past.
      if (reason !== "net::ERR_ABORTED") {
        troubles.push(`request failed: ${request.method()} ${request.url()} ${reason}`);
      }
    });
    page.on("response", (response) => {
      if (response.status() >= 400 && !isExpected(response.status(), response.url())) {
        const asked = response.request();
        troubles.push(`answer ${response.status()}: ${asked.method()} ${response.url()}`);
      }
    });
  });
  return { troubles, expectRefusal: (status, path) => expected.push({ status, path }) };
}
