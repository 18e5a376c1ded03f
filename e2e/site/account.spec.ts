// Accounts: sign-up, confirmation by mail, sign-in, password reset, providers.

import { randomUUID } from "node:crypto";
import { password } from "../support/clients.ts";
import { ageSignIns } from "../support/database.ts";
import { oneTimeCode } from "../support/inbox.ts";
import {
  accountMenu,
  cards,
  expect,
  fillSignIn,
  followMail,
  goTo,
  saveScreenshot,
  test,
  toast,
} from "./journey.ts";
import { findViolations } from "./measure.ts";

test("a newcomer signs up, confirms the address by mail, and signs out", { tag: "@phone" }, async ({
  page,
}) => {
  const unique = randomUUID().slice(0, 8);
  const email = `newcomer-${unique}@lookbook.test`;
  await page.goto("/auth");
  await page.getByRole("tab", { name: "Sign Up" }).click();
  await expect(page.getByRole("heading", { name: "Create Account" })).toBeVisible();
  await saveScreenshot(page, "sign-up");
  await page.getByLabel("Full name").fill("Nora Newcomer");
  await page.getByLabel("Username").fill(`nora_${unique}`);
  await page.getByLabel("Email").fill(email);
  await page.getByLabel("Password", { exact: true }).fill(password);
  await page.getByRole("button", { name: "Create Account" }).click();

  await expect(toast(page, "Check your email for a confirmation link!")).toBeVisible();
  await expect(page.getByRole("heading", { name: "One more step" })).toBeVisible();
  await expect(page.getByText(email)).toBeVisible();

  const site = await followMail(page, email, "Confirm your email address");
  await expect(toast(site, "Email confirmed")).toBeVisible();
  await expect(accountMenu(site)).toHaveAccessibleName("Account menu of Nora Newcomer");
  // The tokens of the link do not stay in the address.
  await expect(site).toHaveURL("/welcome");
  await expect(site.getByRole("heading", { name: /^Welcome to/, level: 1 })).toBeVisible();

  await accountMenu(site).click();
  await saveScreenshot(site, "account-menu");
  await site.getByRole("menuitem", { name: "Sign out" }).click();
  await expect(site.getByRole("banner").getByRole("link", { name: "Sign In" })).toBeVisible();
  await site.reload();
  await expect(site.getByRole("banner").getByRole("link", { name: "Sign In" })).toBeVisible();
});

test("sign-in before the address is confirmed is refused with the reason", {
  tag: "@once",
}, async ({ page, pageErrors }) => {
  const unique = randomUUID().slice(0, 8);
  const email = `unconfirmed-${unique}@lookbook.test`;
  await page.goto("/auth?mode=signup");
  await page.getByLabel("Full name").fill("Una Unconfirmed");
  await page.getByLabel("Username").fill(`una_${unique}`);
  await page.getByLabel("Email").fill(email);
  await page.getByLabel("Password", { exact: true }).fill(password);
  await page.getByRole("button", { name: "Create Account" }).click();
  await expect(page.getByRole("heading", { name: "One more step" })).toBeVisible();

  pageErrors.expectStatus(400, "/auth/v1/token");
  await page.goto("/auth");
  await fillSignIn(page, email);

  await expect(toast(page, "Login failed")).toContainText(
    "Please confirm your email before logging in.",
  );
  // The mail can be asked for again, and its code is enough.
  await expect(page.getByRole("heading", { name: "One more step" })).toBeVisible();
  expect(await findViolations(page)).toEqual([]);
  await saveScreenshot(page, "confirm-by-code");
  pageErrors.expectStatus(403, "/auth/v1/verify");
  const code = page.getByLabel("Code from the mail");
  await code.fill("000 000");
  await page.getByRole("button", { name: "Confirm" }).click();
  await expect(page.getByText("The code is wrong or too old.")).toBeVisible();
  await code.fill(await oneTimeCode(email));
  await page.getByRole("button", { name: "Confirm" }).click();
  await expect(accountMenu(page)).toHaveAccessibleName("Account menu of Una Unconfirmed");
  await expect(page).toHaveURL("/");
});

test("a forgotten password is replaced by the code of the mail", { tag: "@once" }, async ({
  page,
  person,
}) => {
  await page.goto("/auth?reset=true");
  await page.getByLabel("Email").fill(person.email);
  await page.getByRole("button", { name: "Send Reset Link" }).click();
  await expect(page.getByLabel("Code from the mail")).toBeVisible();
  await page.getByLabel("Code from the mail").fill(await oneTimeCode(person.email));
  await page.getByRole("button", { name: "Confirm" }).click();

  await expect(page.getByRole("heading", { name: "Create a new password" })).toBeVisible();
  await page.getByLabel("New Password").fill("Brand-New-2026");
  await page.getByLabel("Confirm Password").fill("Brand-New-2026");
  await page.getByRole("button", { name: "Reset Password" }).click();
  await expect(toast(page, "Password updated")).toBeVisible();
});

test("a taken username is refused and alternatives are suggested", {
  tag: "@once",
}, async ({ page, person }) => {
  await page.goto("/auth?mode=signup");

  await page.getByLabel("Username").fill(person.username.toUpperCase());

  const suggestion = page.getByRole("button", { name: new RegExp(person.username, "i") }).first();
  await expect(suggestion).toBeVisible();
  const chosen = (await suggestion.textContent()) ?? "";
  await suggestion.click();
  await expect(page.getByLabel("Username")).toHaveValue(chosen.trim());
});

test("a wrong password is refused with a message", { tag: "@once" }, async ({
  page,
  pageErrors,
  person,
}) => {
  pageErrors.expectStatus(400, "/auth/v1/token");
  await page.goto("/auth");
  await fillSignIn(page, person.email, "Not-My-Password-1");

  await expect(toast(page, "Login failed")).toContainText(
    "Invalid email or password. Please try again.",
  );
  await saveScreenshot(page, "sign-in-refused");
  await expect(page).toHaveURL("/auth");
});

test("an empty form marks its first field and sends no request", { tag: "@once" }, async ({
  page,
}) => {
  await page.goto("/auth");
  await page.getByRole("button", { name: "Sign In" }).click();

  const email = page.getByLabel("Email");
  await expect(email).toHaveAttribute("aria-invalid", "true");
  await expect(email).toBeFocused();
});

test("a forgotten password is replaced through a link in a mail", async ({
  page,
  pageErrors,
  person,
}) => {
  const changed = "Brand-New-2026";
  await page.goto("/auth");
  await page.getByRole("button", { name: "Forgot password?" }).click();
  await expect(page.getByRole("heading", { name: "Forgot password?" })).toBeVisible();
  await page.getByLabel("Email").fill(person.email);
  await page.getByRole("button", { name: "Send Reset Link" }).click();
  await expect(toast(page, "Password reset email sent.")).toBeVisible();

  const site = await followMail(page, person.email, "Choose a new password");
  // Tabs share the session, so this one would sign in and out with the other at unpredictable moments.
  await page.close();
  await expect(site.getByRole("heading", { name: "Create a new password" })).toBeVisible();
  await saveScreenshot(site, "reset-password");
  await site.getByLabel("New Password").fill(changed);
  await site.getByLabel("Confirm Password").fill(changed);
  await site.getByRole("button", { name: "Reset Password" }).click();
  await expect(toast(site, "Password updated")).toBeVisible();
  await accountMenu(site).click();
  await site.getByRole("menuitem", { name: "Sign out" }).click();
  await expect(site.getByRole("banner").getByRole("link", { name: "Sign In" })).toBeVisible();

  pageErrors.expectStatus(400, "/auth/v1/token");
  await site.goto("/auth");
  await fillSignIn(site, person.email);
  await expect(toast(site, "Login failed")).toBeVisible();
  await fillSignIn(site, person.email, changed);
  await expect(toast(site, "Welcome back!")).toBeVisible();
  await expect(accountMenu(site)).toBeVisible();
});

test("a recovery link that was used before is refused with a message", { tag: "@once" }, async ({
  page,
  person,
}) => {
  await page.goto("/auth?reset=true");
  await page.getByLabel("Email").fill(person.email);
  await page.getByRole("button", { name: "Send Reset Link" }).click();
  await expect(toast(page, "Password reset email sent.")).toBeVisible();
  const first = await followMail(page, person.email, "Choose a new password");
  await expect(first.getByRole("heading", { name: "Create a new password" })).toBeVisible();

  const again = await followMail(page, person.email, "Choose a new password");

  await expect(toast(again, "This link did not work")).toBeVisible();
});

test("a user signs in with a provider, and the second time without the provider's form", async ({
  page,
  pageErrors,
}) => {
  const unique = randomUUID()
    .replace(/[^a-f]/g, "")
    .slice(0, 6);
  const email = `pia.${unique}x@provider.test`;
  const visit = async () => {
    await page.goto("/auth");
    await page.getByRole("button", { name: "Continue with Google" }).click();
  };
  await visit();
  await expect(page.getByRole("heading", { name: "Sign in to the test provider" })).toBeVisible();
  await page.getByLabel("Address").fill(email);
  await page.getByRole("button", { name: "Continue" }).click();

  await expect(accountMenu(page)).toHaveAccessibleName(/^Account menu of Pia /);
  // The tokens do not stay in the address.
  await expect(page).not.toHaveURL(/access_token/);
  // Who has no username yet begins with the first steps.
  await expect(page).toHaveURL("/welcome");
  await expect(toast(page, "Welcome!")).toBeVisible();
  await saveScreenshot(page, "came-by-provider");
  await accountMenu(page).click();
  await page.getByRole("menuitem", { name: "Sign out" }).click();
  await expect(page.getByRole("banner").getByRole("link", { name: "Sign In" })).toBeVisible();

  // The provider has a session now, so it shows no form.
  await visit();
  await expect(accountMenu(page)).toHaveAccessibleName(/^Account menu of Pia /);

  // Whoever has no password shows at the provider that it is them, before the account is deleted.
  const deleteAccount = async () => {
    await page.getByRole("button", { name: "Delete account" }).click();
    const typed = page.getByLabel(`Type ${email} to confirm`);
    await typed.fill(email);
    await typed.press("Enter");
  };
  await page.goto("/profile-settings");
  await ageSignIns(email);
  pageErrors.expectStatus(403, "/rest/v1/rpc/delete_my_account");
  await deleteAccount();
  const question = page.getByRole("alertdialog", { name: "Sign in again" });
  await expect(question.getByLabel("Password", { exact: true })).toHaveCount(0);
  await question.getByRole("button", { name: "Continue with Google" }).click();
  await expect(page).toHaveURL("/profile-settings");
  pageErrors.expectStatus(403, "/auth/v1/logout");
  await deleteAccount();
  await expect(toast(page, "Account deleted")).toBeVisible();
});

test("an address that the provider has not verified must be confirmed", { tag: "@once" }, async ({
  page,
}) => {
  await page.goto("/auth");
  await page.getByRole("button", { name: "Continue with Google" }).click();
  await page.getByLabel("Address").fill(`unverified-${randomUUID().slice(0, 8)}@provider.test`);
  await page.getByRole("button", { name: "Continue" }).click();

  await expect(toast(page, "Authentication Error")).toContainText("Unverified email with google");
  await expect(page.getByRole("heading", { name: "Sign In" })).toBeVisible();
});

test("the demo user of the seed signs in and finds their outfits", { tag: "@once" }, async ({
  page,
}) => {
  await page.goto("/auth");
  await fillSignIn(page, "noah@lookbook.test");
  await expect(accountMenu(page)).toHaveAccessibleName("Account menu of Noah Winter");

  await accountMenu(page).click();
  await page.getByRole("menuitem", { name: "Combines" }).click();

  await expect(page).toHaveURL("/noah");
  await expect(page.getByRole("heading", { name: "Noah Winter" })).toBeVisible();
  await page.getByRole("link", { name: "Lookbook, home" }).click();
  await goTo(page, "My outfits");
  await expect(cards(page, "My outfits").getByRole("link", { name: /^Apprentice/ })).toBeVisible();
});
