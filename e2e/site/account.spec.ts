// Accounts: made, confirmed by mail, left, forgotten and found again.

import { randomUUID } from "node:crypto";
import { password } from "../support/clients.ts";
import {
  accountMenu,
  cards,
  expect,
  fillSignIn,
  followMail,
  goTo,
  picture,
  signIn,
  test,
  toast,
} from "./journey.ts";

test("somebody signs up, confirms the address by mail, is in, and signs out", async ({ page }) => {
  const unique = randomUUID().slice(0, 8);
  const email = `newcomer-${unique}@lookbook.test`;
  await page.goto("/auth");
  await page.getByRole("tab", { name: "Sign Up" }).click();
  await expect(page.getByRole("heading", { name: "Create Account" })).toBeVisible();
  await picture(page, "sign-up");
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
  // The tokens of the link stay in nobody's history.
  await expect(site).toHaveURL("/");
  await expect(cards(site).first()).toBeVisible();

  await accountMenu(site).click();
  await picture(site, "account-menu");
  await site.getByRole("menuitem", { name: "Sign out" }).click();
  await expect(site.getByRole("banner").getByRole("link", { name: "Sign In" })).toBeVisible();
  await site.reload();
  await expect(site.getByRole("banner").getByRole("link", { name: "Sign In" })).toBeVisible();
});

test("who has not confirmed the address is told so, not let in", { tag: "@once" }, async ({
  page,
  pages,
}) => {
  const unique = randomUUID().slice(0, 8);
  const email = `unconfirmed-${unique}@lookbook.test`;
  await page.goto("/auth?mode=signup");
  await page.getByLabel("Full name").fill("Una Unconfirmed");
  await page.getByLabel("Username").fill(`una_${unique}`);
  await page.getByLabel("Email").fill(email);
  await page.getByLabel("Password", { exact: true }).fill(password);
  await page.getByRole("button", { name: "Create Account" }).click();
  await expect(page.getByRole("heading", { name: "One more step" })).toBeVisible();

  pages.expectRefusal(400, "/auth/v1/token");
  await page.goto("/auth");
  await fillSignIn(page, email);

  await expect(toast(page, "Login failed")).toContainText(
    "Please confirm your email before logging in.",
  );
});

test("a username that somebody has is refused, with others to choose from", {
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

test("a wrong password is refused in words", { tag: "@once" }, async ({ page, pages, person }) => {
  pages.expectRefusal(400, "/auth/v1/token");
  await page.goto("/auth");
  await fillSignIn(page, person.email, "Not-My-Password-1");

  await expect(toast(page, "Login failed")).toContainText(
    "Invalid email or password. Please try again.",
  );
  await picture(page, "sign-in-refused");
  await expect(page).toHaveURL("/auth");
});

test("an empty form names what is missing, and asks no server", { tag: "@once" }, async ({
  page,
}) => {
  await page.goto("/auth");
  await page.getByRole("button", { name: "Sign In" }).click();

  const email = page.getByLabel("Email");
  await expect(email).toHaveAttribute("aria-invalid", "true");
  await expect(email).toBeFocused();
});

test("a forgotten password is replaced by way of a mail", async ({ page, pages, person }) => {
  const changed = "Brand-New-2026";
  await page.goto("/auth");
  await page.getByRole("button", { name: "Forgot password?" }).click();
  await expect(page.getByRole("heading", { name: "Forgot password?" })).toBeVisible();
  await page.getByLabel("Email").fill(person.email);
  await page.getByRole("button", { name: "Send Reset Link" }).click();
  await expect(toast(page, "Password reset email sent.")).toBeVisible();

  const site = await followMail(page, person.email, "Choose a new password");
  // Left open, this tab would be signed in and out with the other one, at moments that nobody controls.
  await page.close();
  await expect(site.getByRole("heading", { name: "Create a new password" })).toBeVisible();
  await picture(site, "reset-password");
  await site.getByLabel("New Password").fill(changed);
  await site.getByLabel("Confirm Password").fill(changed);
  await site.getByRole("button", { name: "Reset Password" }).click();
  await expect(toast(site, "Password updated")).toBeVisible();
  await accountMenu(site).click();
  await site.getByRole("menuitem", { name: "Sign out" }).click();
  await expect(site.getByRole("banner").getByRole("link", { name: "Sign In" })).toBeVisible();

  pages.expectRefusal(400, "/auth/v1/token");
  await site.goto("/auth");
  await fillSignIn(site, person.email);
  await expect(toast(site, "Login failed")).toBeVisible();
  await fillSignIn(site, person.email, changed);
  await expect(toast(site, "Welcome back!")).toBeVisible();
  await expect(accountMenu(site)).toBeVisible();
});

test("a link that was used up says so", { tag: "@once" }, async ({ page, person }) => {
  await page.goto("/auth?reset=true");
  await page.getByLabel("Email").fill(person.email);
  await page.getByRole("button", { name: "Send Reset Link" }).click();
  await expect(toast(page, "Password reset email sent.")).toBeVisible();
  const first = await followMail(page, person.email, "Choose a new password");
  await expect(first.getByRole("heading", { name: "Create a new password" })).toBeVisible();

  const again = await followMail(page, person.email, "Choose a new password");

  await expect(toast(again, "This link did not work")).toBeVisible();
});

test("somebody comes in by a provider, and is known there the next time", async ({ page }) => {
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
  // The tokens stay in nobody's history.
  await expect(page).not.toHaveURL(/access_token/);
  await picture(page, "came-by-provider");
  await accountMenu(page).click();
  await page.getByRole("menuitem", { name: "Sign out" }).click();
  await expect(page.getByRole("banner").getByRole("link", { name: "Sign In" })).toBeVisible();

  // The provider remembers them, as Google does: no form this time.
  await visit();
  await expect(accountMenu(page)).toHaveAccessibleName(/^Account menu of Pia /);
});

test("whose address the provider has not proven is asked to confirm it", { tag: "@once" }, async ({
  page,
}) => {
  await page.goto("/auth");
  await page.getByRole("button", { name: "Continue with Google" }).click();
  await page.getByLabel("Address").fill(`unverified-${randomUUID().slice(0, 8)}@provider.test`);
  await page.getByRole("button", { name: "Continue" }).click();

  await expect(toast(page, "This link did not work")).toContainText("Unverified email with google");
  await expect(page.getByRole("heading", { name: "Sign In" })).toBeVisible();
});

test("the demo user of the seed signs in and finds what they made", { tag: "@once" }, async ({
  page,
}) => {
  await signIn(page, "noah@lookbook.test");
  await expect(accountMenu(page)).toHaveAccessibleName("Account menu of Noah Winter");

  await accountMenu(page).click();
  await page.getByRole("menuitem", { name: "Combines" }).click();

  await expect(page).toHaveURL("/noah");
  await expect(page.getByRole("heading", { name: "Noah Winter" })).toBeVisible();
  await page.getByRole("link", { name: "Lookbook, home" }).click();
  await goTo(page, "My outfits");
  await expect(cards(page, "My outfits").getByRole("link", { name: /Apprentice/ })).toBeVisible();
});
