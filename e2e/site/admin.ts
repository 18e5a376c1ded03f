// Steps shared by the tests of the admin area.

import type { Locator, Page } from "@playwright/test";
import { expect, openSignedIn } from "./journey.ts";

/** A picture of one pixel, as PNG. */
export const tinyPicture = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
  "base64",
);

/** Opens a section as this administrator, by default the demo data's. `path` may have search parameters. */
export async function openSection(
  page: Page,
  path: string,
  title: string,
  email = "admin@lookbook.test",
): Promise<void> {
  await replaceRenderedPictures(page);
  await openSignedIn(page, email, `/admin/${path}`);
  await expect(page.getByRole("heading", { name: title, level: 1 })).toBeVisible();
}

/**
 * Answers requests for scaled pictures in the server's place. The tests run on a fresh server, which has to render every picture of
 * a table for the first time, and refuses some with 429 while it is busy with others.
 */
export async function replaceRenderedPictures(page: Page): Promise<void> {
  await page.route("**/storage/v1/render/**", (route) =>
    route.fulfill({ body: tinyPicture, contentType: "image/png" }),
  );
}

/** The rows of the table with this text. */
export function row(page: Page, text: string): Locator {
  return page.getByRole("row").filter({ hasText: text });
}

/** Closes a panel by Escape. Pressed again if need be, because a panel listens to keys only a moment after it is shown. */
export async function leaveByEscape(page: Page, panel: Locator): Promise<void> {
  await expect(async () => {
    await page.keyboard.press("Escape");
    await expect(panel).toHaveCount(0, { timeout: 1000 });
  }).toPass();
}
