// "Continue with Google" as in `make run`: Google has no credentials, so the development identity provider of `selvedge
// start` replaces it.

import { randomUUID } from "node:crypto";
import type { Page } from "@playwright/test";
import type { Person } from "../support/clients.ts";
import { savePerson } from "../support/development-sign-in.ts";
import { replaceRenderedPictures } from "./admin.ts";
import { test as freshTest } from "./fresh-server.ts";
import { accountMenu, expect, saveScreenshot, toast } from "./journey.ts";
import { findViolations, measureOverflow } from "./measure.ts";

type Invented = Pick<Person, "email">;

const test = freshTest.extend<{ known: Invented }>({
  // A person with an account at Google, but not here.
  known: async ({ freshServer, page }, use) => {
    // Not what is tested here, and a server that has rendered none of them yet may refuse some.
    await replaceRenderedPictures(page);
    const email = `kim-${randomUUID().slice(0, 8)}@example.com`;
    await savePerson(freshServer.inboxUrl, { name: "Kim Known", email });
    await use({ email });
  },
});

async function continueWithGoogle(page: Page): Promise<void> {
  await page.getByRole("button", { name: "Continue with Google" }).click();
  await expect(page.getByRole("heading", { name: "Sign in with Google", level: 1 })).toBeVisible();
}

test("a new person signs in with Google and returns to the page they came from", {
  tag: "@phone",
}, async ({ page, known }) => {
  await page.goto("/look/camel-hour");
  await page.getByRole("link", { name: "Sign In" }).first().click();
  // The button has Google's sign before its words.
  const sign = await page
    .getByRole("button", { name: "Continue with Google" })
    .evaluate((button) => getComputedStyle(button).backgroundImage);
  const file = await page.request.get(/^url\("(.+)"\)$/.exec(sign)?.[1] ?? "");
  expect(file.headers()["content-type"], sign).toContain("image/svg+xml");
  await continueWithGoogle(page);
  await expect(page.getByText("This page is not Google.")).toBeVisible();
  await expect(page.getByRole("button", { name: known.email })).toBeVisible();
  await saveScreenshot(page, "development-sign-in");
  expect(await findViolations(page)).toEqual([]);
  expect(await measureOverflow(page), "sideways overflow").toBeLessThanOrEqual(0);

  await page.getByLabel("Name").fill("Nora New");
  await page.getByLabel("E-mail address").fill(`nora-${randomUUID().slice(0, 8)}@example.com`);
  await page.getByRole("button", { name: "Sign in as someone new" }).press("Enter");

  await expect(accountMenu(page)).toHaveAccessibleName("Account menu of Nora New");
  await expect(page).toHaveURL("/look/camel-hour");
});

test("a known person signs in with one press, by the keyboard", async ({ page, known }) => {
  await page.goto("/auth");
  await continueWithGoogle(page);
  const button = page.getByRole("button", { name: known.email });
  await button.focus();
  await page.keyboard.press("Enter");

  await expect(accountMenu(page)).toHaveAccessibleName("Account menu of Kim Known");
  await expect(page).not.toHaveURL(/access_token/);
});

test("somebody who cancels is told so, and may sign in again", async ({ page, known }) => {
  await page.goto("/auth");
  await continueWithGoogle(page);
  await page.getByRole("button", { name: "Cancel" }).click();

  await expect(toast(page, "Authentication Error")).toContainText("The sign-in was cancelled.");
  await expect(page.getByRole("heading", { name: "Sign In" })).toBeVisible();
  await continueWithGoogle(page);
  await page.getByRole("button", { name: known.email }).click();
  await expect(accountMenu(page)).toHaveAccessibleName("Account menu of Kim Known");
});

test("a form that cannot be used says why, and keeps what was entered", { tag: "@once" }, async ({
  page,
  known,
  pageErrors,
}) => {
  pageErrors.expectStatus(422, "/sign-in/google/choose");
  await page.goto("/auth");
  await continueWithGoogle(page);
  await page.getByLabel("Name").fill("Somebody Else");
  await page.getByLabel("E-mail address").fill(known.email);
  await page.getByRole("button", { name: "Sign in as someone new" }).click();

  const address = page.getByLabel("E-mail address");
  await expect(address).toBeFocused();
  await expect(address).toHaveAccessibleDescription(/Kim Known has this address already/);
  await expect(page.getByLabel("Name")).toHaveValue("Somebody Else");
  expect(await findViolations(page)).toEqual([]);
});

test("an address that has an account already signs in to that account", { tag: "@once" }, async ({
  page,
  freshServer,
}) => {
  // A demo user of the seed, who signed up with a password.
  await savePerson(freshServer.inboxUrl, { name: "Noah at Google", email: "noah@lookbook.test" });
  await page.goto("/auth");
  await continueWithGoogle(page);
  await page.getByRole("button", { name: "noah@lookbook.test" }).click();
  await expect(accountMenu(page)).toHaveAccessibleName("Account menu of Noah Winter");

  // An address that Google has not verified is linked to no existing account.
  const stranger = `stranger-${randomUUID().slice(0, 8)}@example.com`;
  await savePerson(freshServer.inboxUrl, {
    name: "A Stranger",
    email: stranger,
    email_verified: false,
  });
  await accountMenu(page).click();
  await page.getByRole("menuitem", { name: "Sign out" }).click();
  await expect(page.getByRole("banner").getByRole("link", { name: "Sign In" })).toBeVisible();
  await page.goto("/auth");
  await continueWithGoogle(page);
  await page.getByRole("button", { name: stranger }).click();
  await expect(toast(page, "Authentication Error")).toContainText("Unverified email with google");
});
