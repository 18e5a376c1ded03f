// Records what must not happen on any page of a test: console errors, uncaught exceptions, failed requests.

import type { BrowserContext, Page } from "@playwright/test";

export interface PageErrors {
  /** Everything that went wrong so far, one line each. */
  readonly found: string[];
  /** Declares that a response with this status is expected for this path, because the test provokes it. */
  expectStatus(status: number, path: string): void;
  /** Expects a status for every path with this prefix. */
  expectStatusOfAny(status: number, start: string): void;
  /** Declares that messages with this text are expected in the console. */
  expectConsole(text: string): void;
  /** Declares that requests may fail from now on, because the test cuts the network. */
  expectNetworkFailures(): void;
}

/** Watches every page of the browser context. `inbox` is the address of the development inbox. */
export function recordPageErrors(context: BrowserContext, inbox: string): PageErrors {
  const found: string[] = [];
  const expected: { status: number; matches: (path: string) => boolean }[] = [];
  const expectedTexts: string[] = [];
  let isNetworkReliable = true;
  const isExpected = (status: number, url: string) => {
    const { pathname } = new URL(url);
    // A server that is busy with other pictures refuses to render one more, and the site shows the file as it was uploaded.
    const isOverload = status === 429 && pathname.startsWith("/storage/v1/render/");
    return isOverload || expected.some((one) => one.status === status && one.matches(pathname));
  };

  context.on("page", (page: Page) => {
    page.on("pageerror", (error) => found.push(`exception: ${error.message}`));
    page.on("console", (message) => {
      // Chromium repeats in the console what the `response` and `requestfailed` events report in more detail.
      const isRepeated = message.text().startsWith("Failed to load resource");
      // Playwright looks into the frame of a mail, in the inbox and in the console, which is sandboxed without scripts.
      const isSandbox =
        message.text().startsWith("Blocked script") &&
        (page.url().startsWith(inbox) || message.text().includes("'about:srcdoc'"));
      const isDeclared = expectedTexts.some((text) => message.text().includes(text));
      if (message.type() === "error" && !isRepeated && !isSandbox && !isDeclared) {
        found.push(`console: ${message.text()}`);
      }
    });
    page.on("requestfailed", (request) => {
      const reason = request.failure()?.errorText ?? "";
      // Requests aborted by the page itself are ignored: a query that is no longer needed, a picture that was scrolled past.
      if (reason !== "net::ERR_ABORTED" && isNetworkReliable) {
        found.push(`request failed: ${request.method()} ${request.url()} ${reason}`);
      }
    });
    page.on("response", (response) => {
      if (response.status() >= 400 && !isExpected(response.status(), response.url())) {
        found.push(`status ${response.status()}: ${response.request().method()} ${response.url()}`);
      }
    });
  });
  return {
    found,
    expectStatus: (status, path) => expected.push({ status, matches: (actual) => actual === path }),
    expectStatusOfAny: (status, start) =>
      expected.push({ status, matches: (actual) => actual.startsWith(start) }),
    expectConsole: (text) => expectedTexts.push(text),
    expectNetworkFailures: () => {
      isNetworkReliable = false;
    },
  };
}
