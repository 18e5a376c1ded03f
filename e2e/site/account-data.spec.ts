// Taking one's data along, and deleting the account.

import { readFile } from "node:fs/promises";
import { unzipSync } from "fflate";
import { makeOutfit } from "../support/catalogue.ts";
import { owner, password, signUp } from "../support/clients.ts";
import { ageSignIns, runSql } from "../support/database.ts";
import { picture, png, storedFiles } from "../support/files.ts";
import { test as freshTest } from "./fresh-server.ts";
import {
  expect,
  fillSignIn,
  openSignedIn,
  saveScreenshot,
  signOut,
  test,
  toast,
} from "./journey.ts";
import { findViolations, measureOverflow } from "./measure.ts";

test("everything about a user is downloaded as one zip", async ({ page, person }) => {
  const outfit = await makeOutfit(person, "pending");
  const name = `training-images/${person.id}/one.png`;
  await person.client.storage.from("profile-avatars").upload(name, picture(), png);
  await openSignedIn(page, person.email, "/profile-settings");

  const download = page.waitForEvent("download");
  await page.getByRole("button", { name: "Download your data" }).click();
  const file = await download;

  expect(file.suggestedFilename()).toMatch(/^lookbook-\d{4}-\d{2}-\d{2}\.zip$/);
  await expect(toast(page, "Your data is ready")).toBeVisible();
  const entries = unzipSync(await readFile(await file.path()));
  expect(Object.keys(entries).sort()).toEqual(["data.json", `files/profile-avatars/${name}`]);
  expect(Buffer.from(entries[`files/profile-avatars/${name}`] ?? []).equals(picture())).toBe(true);
  const data = JSON.parse(Buffer.from(entries["data.json"] ?? []).toString());
  expect(data.profile.username).toBe(person.username);
  expect(data.account.email).toBe(person.email);
  expect(data.outfits.map((one: { name: string }) => one.name)).toEqual([outfit.name]);
});

test("notices by mail are switched off where the mail leads, and stay so @once", async ({
  page,
  person,
}) => {
  await openSignedIn(page, person.email, "/profile-settings#mails");
  const notices = page.getByRole("checkbox", { name: /Notices by mail/ });
  await expect(notices).toBeChecked();
  await expect(notices).toBeInViewport();
  await notices.uncheck();
  const stored = async () => {
    const { data } = await person.client.from("mail_settings").select("notices");
    return data;
  };
  await expect.poll(stored).toEqual([{ notices: false }]);
  await page.reload();
  await expect(notices).toBeEnabled();
  await expect(notices).not.toBeChecked();
  await notices.check();
  await expect.poll(stored).toEqual([{ notices: true }]);
});

test("the link of a mail ends them without a sign-in, once its button is pressed", {
  tag: "@phone",
}, async ({ page, person }) => {
  const [{ token } = { token: "" }] = await runSql<{ token: string }>(
    `select private.unsubscribe_token('${person.id}') as token`,
  );
  const stored = async () =>
    (await person.client.from("mail_settings").select("notices")).data ?? undefined;
  await page.goto(`/mails/v1/unsubscribe?token=${token}`);
  await expect(page.getByRole("heading", { name: "Unsubscribe?", level: 1 })).toBeVisible();
  expect(await findViolations(page)).toEqual([]);
  expect(await measureOverflow(page)).toBeLessThanOrEqual(0);
  await saveScreenshot(page, "unsubscribe");
  expect(await stored()).toEqual([]);

  await page.getByRole("button", { name: "Unsubscribe" }).click();
  await expect(page.getByRole("heading", { name: "You have unsubscribed" })).toBeVisible();
  expect(await findViolations(page)).toEqual([]);
  expect(await stored()).toEqual([{ notices: false }]);
  // The configured address of the site, which is not that of the tests' server.
  await expect(page.getByRole("link", { name: "To the site" })).toHaveAttribute("href", /^http:/);
});

test("one button ends the sessions of all devices, and Sign out only this one @once", async ({
  page,
  person,
}) => {
  const other = await signUp();
  await openSignedIn(page, other.email, "/");
  await signOut(page);
  expect((await other.client.auth.refreshSession()).error).toBeNull();

  await openSignedIn(page, person.email, "/profile-settings");
  await page.getByRole("button", { name: "Sign out everywhere" }).click();
  await expect(page.getByRole("banner").getByRole("link", { name: "Sign In" })).toBeVisible();
  expect((await person.client.auth.refreshSession()).error).not.toBeNull();
});

test("terms and privacy are linked from every page, and can be read", { tag: "@phone" }, async ({
  page,
  phone,
}) => {
  await page.goto("/discovery");
  await page.getByRole("contentinfo").getByRole("link", { name: "Terms" }).click();
  await expect(page.getByRole("heading", { name: "Terms", level: 1 })).toBeVisible();
  expect(await findViolations(page)).toEqual([]);
  await saveScreenshot(page, `terms-${phone ? "phone" : "desktop"}`);
  await page.getByRole("article").getByRole("link", { name: "Privacy" }).click();
  await expect(page.getByRole("heading", { name: "Privacy", level: 1 })).toBeVisible();
  const answer = await page.request.get("/privacy");
  expect([answer.status(), (await answer.text()).includes("<title>Privacy")]).toEqual([200, true]);
  await page.goto("/auth?mode=signup");
  await expect(page.getByRole("main").getByRole("link", { name: "terms" })).toBeVisible();
});

test("an account is deleted after its username is typed", async ({ page, pageErrors, person }) => {
  await person.client.storage.from("avatars").upload(`${person.id}/me.png`, picture(), png);
  await openSignedIn(page, person.email, "/profile");
  await page.getByRole("button", { name: "Delete account" }).click();
  const question = page.getByRole("alertdialog", { name: "Delete your account?" });
  const confirm = question.getByRole("button", { name: "Delete account" });
  await expect(confirm).toBeDisabled();
  const field = question.getByLabel(`Type ${person.username} to confirm`);
  await field.fill("yes");
  await expect(confirm).toBeDisabled();
  await saveScreenshot(page, "delete-account");
  expect(await findViolations(page)).toEqual([]);

  // The client also signs out of the session that went with the account.
  pageErrors.expectStatus(403, "/auth/v1/logout");
  await field.fill(person.username);
  await confirm.click();

  await expect(toast(page, "Account deleted")).toBeVisible();
  await expect(page).toHaveURL("/");
  await expect(page.getByRole("banner").getByRole("link", { name: "Sign In" })).toBeVisible();
  expect((await owner().auth.admin.getUserById(person.id)).error?.status).toBe(404);
  expect(await storedFiles("avatars", person.id)).toEqual([]);

  pageErrors.expectStatus(400, "/auth/v1/token");
  await page.goto("/auth");
  await fillSignIn(page, person.email);
  await expect(toast(page, "Login failed")).toBeVisible();
  pageErrors.expectStatus(404, `/${person.username}`);
  await page.goto(`/${person.username}`);
  await expect(page.getByText("User Not Found")).toBeVisible();
});

test("an account is deleted only by somebody who has just signed in", {
  tag: "@phone",
}, async ({ page, pageErrors, person }) => {
  await openSignedIn(page, person.email, "/profile-settings");
  await ageSignIns(person.email);
  await page.getByRole("button", { name: "Delete account" }).click();
  const typed = page.getByLabel(`Type ${person.username} to confirm`);
  pageErrors.expectStatus(403, "/rest/v1/rpc/delete_my_account");
  await typed.fill(person.username);
  await typed.press("Enter");

  const question = page.getByRole("alertdialog", { name: "Sign in again" });
  const confirm = question.getByRole("button", { name: "Delete account" });
  await expect(question).toContainText("your last sign-in was more than ten minutes ago");
  await expect(confirm).toBeDisabled();
  const secret = question.getByLabel("Password", { exact: true });
  pageErrors.expectStatus(400, "/auth/v1/token");
  await secret.fill("not-the-password");
  await secret.press("Enter");
  await expect(secret).toHaveAccessibleDescription("Invalid email or password. Please try again.");
  await expect(secret).toHaveValue("not-the-password");
  await saveScreenshot(page, "sign-in-again");
  expect(await findViolations(page)).toEqual([]);
  expect((await owner().auth.admin.getUserById(person.id)).data.user?.id).toBe(person.id);

  pageErrors.expectStatus(403, "/auth/v1/logout");
  await secret.fill(password);
  await confirm.click();

  await expect(toast(page, "Account deleted")).toBeVisible();
  await expect(page).toHaveURL("/");
  expect((await owner().auth.admin.getUserById(person.id)).error?.status).toBe(404);
});

// With a separate server, because other tests create administrators on the shared one.
freshTest(
  "the last administrator cannot delete their account",
  { tag: "@once" },
  async ({ page, pageErrors }) => {
    await openSignedIn(page, "admin@lookbook.test", "/profile-settings");
    await page.getByRole("button", { name: "Delete account" }).click();
    const question = page.getByRole("alertdialog", { name: "Delete your account?" });
    await question.getByLabel("Type lookbook to confirm").fill("lookbook");
    pageErrors.expectStatus(400, "/rest/v1/rpc/delete_my_account");
    await question.getByRole("button", { name: "Delete account" }).click();

    await expect(toast(page, "Your account was not deleted")).toContainText(
      "The last administrator cannot be deleted.",
    );
    await page.reload();
    await expect(page.getByRole("button", { name: "Delete account" })).toBeVisible();
  },
);
