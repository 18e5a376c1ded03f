// Signs people in without the form, for tests of something else. The form itself: account.spec.ts.

import type { Page } from "@playwright/test";
import { anonKey, password } from "../support/clients.ts";

/**
 * Signs in by the API and stores the session in the browser, as the site does after its form. The next page that is opened is that of
 * a signed-in person.
 */
export async function storeSession(page: Page, email: string, secret = password): Promise<void> {
  const response = await page.request.post("/auth/v1/token?grant_type=password", {
    headers: { apikey: anonKey },
    data: { email, password: secret },
  });
  if (!response.ok()) {
    throw new Error(`${email} cannot sign in: ${response.status()} ${await response.text()}`);
  }
  const { origin, hostname } = new URL(response.url());
  const item = { name: `sb-${hostname.split(".")[0]}-auth-token`, value: await response.text() };
  if (page.url().startsWith(origin)) {
    await page.evaluate(({ name, value }) => localStorage.setItem(name, value), item);
    return;
  }
  // No page of the site is open, so nothing of it can be lost.
  await page
    .context()
    .setStorageState({ cookies: [], origins: [{ origin, localStorage: [item] }] });
}
