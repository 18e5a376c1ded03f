// The vocabulary of the journeys: somebody at a browser, who they are, and what they do again and again.
// Elements are found as people find them: by role, label and text.

import { test as base, expect, type Locator, type Page } from "@playwright/test";
import { apiUrl, inboxUrl } from "../support/address.ts";
import { type Person, password, signUp } from "../support/clients.ts";
import { type Watch, watch } from "./watch.ts";

export { expect };

interface Fixtures {
  /** True on a phone: no hover, a bottom navigation, sheets in place of menus. */
  phone: boolean;
  /** Fails the journey when a page reports an error or a request fails. */
  pages: Watch;
  /** Somebody with an account of their own, not signed in yet. */
  person: Person;
}

export const test = base.extend<Fixtures>({
  // biome-ignore lint/correctness/noEmptyPattern: Playwright reads the names of fixtures from the pattern.
  baseURL: async ({}, use) => use(apiUrl()),
  phone: async ({ isMobile }, use) => use(isMobile),
  pages: [
    async ({ context }, use) => {
      const pages = watch(context, inboxUrl());
      await use(pages);
      expect(pages.troubles, "errors in the console, failed requests").toEqual([]);
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

/** The explore grid, with outfits in it. */
export async function openExplore(page: Page): Promise<void> {
  await page.goto("/");
  await expect(page.getByRole("heading", { name: "Explore Outfits", level: 1 })).toBeVisible();
  await expect(cards(page).first()).toBeVisible();
}

/** The name of the outfit on a card, from the button that likes it. */
export async function outfitName(card: Locator): Promise<string> {
  const label = await card
    .getByRole("button", { name: /^(Like|Unlike) / })
    .getAttribute("aria-label");
  return (label ?? "").replace(/^(Like|Unlike) /, "");
}

/** Signs in by the form, as whoever it is: afterwards the explore grid is on screen. */
export async function signIn(page: Page, email: string, secret = password): Promise<void> {
  await page.goto("/auth");
  await fillSignIn(page, email, secret);
  await expect(accountMenu(page)).toBeVisible();
  await expect(cards(page).first()).toBeVisible();
}

/** Fills in the sign-in form that is on screen and sends it. */
export async function fillSignIn(page: Page, email: string, secret = password): Promise<void> {
  await page.getByLabel("Email").fill(email);
  await page.getByLabel("Password", { exact: true }).fill(secret);
  await page.getByRole("button", { name: "Sign In" }).click();
}

export function accountMenu(page: Page): Locator {
  return page.getByRole("button", { name: /^Account menu of / });
}

/** A notice of the site, by its title. Over a modal it is announced on its own, and hidden from the tree. */
export function toast(page: Page, title: string): Locator {
  return page
    .getByRole("region", { name: /^Notifications/, includeHidden: true })
    .getByRole("listitem", { includeHidden: true })
    .filter({ hasText: title });
}

/** Goes to a section by the navigation of this screen: the sidebar, or the bar below. */
export async function goTo(page: Page, section: string): Promise<void> {
  await page
    .getByRole("navigation", { name: "Sections" })
    .getByRole("link", { name: section })
    .click();
}

/**
 * Opens the inbox as a person does, picks the newest mail to this address and follows its button, which
 * opens a tab: the one that is returned.
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

/** Keeps what the page looks like, for people to look through; nothing compares it. */
export async function picture(page: Page, name: string): Promise<void> {
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
