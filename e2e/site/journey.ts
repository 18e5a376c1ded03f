// Fixtures and steps shared by the site tests. Elements are located by role, label and text, as users find them.

import { test as base, expect, type Locator, type Page } from "@playwright/test";
import { apiUrl, inboxUrl } from "../support/address.ts";
import { type Person, password, signUp } from "../support/clients.ts";
import { type PageErrors, recordPageErrors } from "./page-errors.ts";
import { storeSession } from "./session.ts";

export { expect };

interface Fixtures {
  /** True in the phone project: no hover, a bottom navigation, sheets in place of menus. */
  phone: boolean;
  /** Fails the test when a page reports an error or a request fails. */
  pageErrors: PageErrors;
  /** A new account for this test; the browser is not signed in yet. */
  person: Person;
}

export const test = base.extend<Fixtures>({
  // biome-ignore lint/correctness/noEmptyPattern: Playwright reads the names of fixtures from the pattern.
  baseURL: async ({}, use) => use(apiUrl()),
  phone: async ({ isMobile }, use) => use(isMobile),
  pageErrors: [
    async ({ context }, use) => {
      const errors = recordPageErrors(context, inboxUrl());
      await use(errors);
      expect(errors.found, "console errors and failed requests").toEqual([]);
    },
    { auto: true },
  ],
  // biome-ignore lint/correctness/noEmptyPattern: as above.
  person: async ({}, use) => use(await signUp()),
});

/** The cards of a list, by its heading. */
export function cards(page: Page, list = "Explore Outfits"): Locator {
  return page.getByRole("list", { name: list, exact: true }).getByRole("article");
}

/** How many cards a list has in all. Only those near the viewport are in the DOM. */
export async function listSize(page: Page, list = "Explore Outfits"): Promise<number> {
  const item = page.getByRole("list", { name: list, exact: true }).locator("> li").first();
  return Number(await item.getAttribute("aria-setsize"));
}

/** Opens the dashboard and waits for the first outfit. */
export async function openExplore(page: Page): Promise<void> {
  await page.goto("/");
  await expect(page.getByRole("heading", { name: "Explore Outfits", level: 1 })).toBeVisible();
  await expect(cards(page).first()).toBeVisible();
}

/** The name of the outfit on a card, read from the label of its like button. */
export async function outfitName(card: Locator): Promise<string> {
  const label = await card
    .getByRole("button", { name: /^(Like|Unlike) / })
    .getAttribute("aria-label");
  return (label ?? "").replace(/^(Like|Unlike) /, "");
}

/** Opens the dashboard as this person, without the sign-in form, and waits for its outfits. */
export async function signIn(page: Page, email: string): Promise<void> {
  await openSignedIn(page, email, "/");
  await expect(accountMenu(page)).toBeVisible();
  await expect(cards(page).first()).toBeVisible();
}

/** Opens a page of the site as this person, without the sign-in form. */
export async function openSignedIn(page: Page, email: string, path: string): Promise<void> {
  await storeSession(page, email);
  await page.goto(path);
}

/** Fills in and submits the sign-in form on the current page. */
export async function fillSignIn(page: Page, email: string, secret = password): Promise<void> {
  await page.getByLabel("Email").fill(email);
  await page.getByLabel("Password", { exact: true }).fill(secret);
  await page.getByRole("button", { name: "Sign In" }).click();
}

/** Signs out by the account menu and waits until the server has ended the session. */
export async function signOut(page: Page): Promise<void> {
  await accountMenu(page).click();
  await page.getByRole("menuitem", { name: "Sign out" }).click();
  await expect(page.getByRole("banner").getByRole("link", { name: "Sign In" })).toBeVisible();
}

export function accountMenu(page: Page): Locator {
  return page.getByRole("button", { name: /^Account menu of / });
}

/**
 * A toast by its title. While a modal is open, toasts are hidden from the accessibility tree, hence `includeHidden`.
 */
export function toast(page: Page, title: string): Locator {
  return page
    .getByRole("region", { name: /^Notifications/, includeHidden: true })
    .getByRole("listitem", { includeHidden: true })
    .filter({ hasText: title });
}

/**
 * Waits for a notice with this title, also one that has gone again: notices stay for five seconds, which is less than a busy machine may
 * take to look. A notice is found once. Must be prepared by {@link recordNotices}.
 */
export async function expectNotice(page: Page, title: string): Promise<void> {
  const take = (wanted: string) => {
    const shown = (window as unknown as { notices: string[] }).notices;
    const index = shown.findIndex((text) => text.includes(wanted));
    return index >= 0 && shown.splice(index, 1).length === 1;
  };
  await expect.poll(() => page.evaluate(take, title), { message: `notice "${title}"` }).toBe(true);
}

/** Keeps the texts of all notices of the pages that are opened from now on, for {@link expectNotice}. */
export async function recordNotices(page: Page): Promise<void> {
  await page.addInitScript(() => {
    const notices: string[] = [];
    Object.assign(window, { notices });
    const known = new WeakSet<Element>();
    new MutationObserver(() => {
      for (const notice of document.querySelectorAll(
        '[role="region"][aria-label^="Notifications"] li',
      )) {
        if (known.has(notice)) continue;
        known.add(notice);
        notices.push(notice.textContent ?? "");
      }
    }).observe(document, { childList: true, subtree: true });
  });
}

/** Follows a link of the navigation: the sidebar or header, on phones the bottom navigation or the tabs above the list. */
export async function goTo(page: Page, section: string): Promise<void> {
  await page.getByRole("navigation").getByRole("link", { name: section, exact: true }).click();
}

/**
 * Opens the inbox, selects the newest mail to this address and clicks its button. Returns the tab that the button
 * opens.
 */
export async function followMail(page: Page, email: string, button: string): Promise<Page> {
  const inbox = await page.context().newPage();
  await inbox.goto(inboxUrl());
  await inbox.getByRole("searchbox", { name: "Search mails" }).fill(`to:${email}`);
  await inbox
    .getByRole("navigation", { name: "Mails" })
    .getByRole("button", { name: email })
    .first()
    .click();
  const opened = page.context().waitForEvent("page");
  await inbox.frameLocator('iframe[title="Mail"]').getByRole("link", { name: button }).click();
  const arrived = await opened;
  await inbox.close();
  return arrived;
}

/** Takes a screenshot for people to look at; no test compares it. */
export async function saveScreenshot(page: Page, name: string): Promise<void> {
  const size = page.viewportSize();
  await page.evaluate(async () => {
    await document.fonts.ready;
    const shown = [...document.images].filter(
      ({ loading, complete }) => loading === "eager" || complete,
    );
    await Promise.all(shown.map((image) => image.decode().catch(() => undefined)));
  });
  await page.screenshot({
    path: `artifacts/${name}-${size?.width}x${size?.height}.png`,
    animations: "disabled",
  });
}
