// Editing the public profile: username, texts, draft, avatar.

import { randomUUID } from "node:crypto";
import { owner } from "../support/clients.ts";
import { storedFiles } from "../support/files.ts";
import {
  expect,
  fillSignIn,
  openSignedIn,
  saveScreenshot,
  signOut,
  test,
  toast,
} from "./journey.ts";
import { findViolations } from "./measure.ts";

/** A picture that the browser can crop: a drawing of these pixels as PNG. */
async function drawPicture(page: import("@playwright/test").Page): Promise<Buffer> {
  const data = await page.evaluate(() => {
    const canvas = document.createElement("canvas");
    [canvas.width, canvas.height] = [640, 400];
    const context = canvas.getContext("2d");
    if (context) {
      context.fillStyle = "teal";
      context.fillRect(0, 0, 640, 400);
      context.fillStyle = "gold";
      context.fillRect(0, 0, 200, 400);
    }
    return canvas.toDataURL("image/png");
  });
  return Buffer.from(data.split(",")[1] ?? "", "base64");
}

test("a new username, texts and links are saved and shown on the public page", async ({
  page,
  person,
}) => {
  const wanted = `mira_${randomUUID().slice(0, 8)}`;
  await openSignedIn(page, person.email, "/profile/edit");
  await expect(page.getByRole("heading", { name: "Settings", level: 1 })).toBeVisible();

  // The demo user's name is taken, in any case of letters.
  await page.getByLabel("Username").fill("Mira");
  await expect(
    page.getByText("Username not available: Please choose a different username."),
  ).toBeVisible();
  await expect(page.getByRole("button", { name: "mira1", exact: true })).toBeVisible();
  await page.getByRole("button", { name: "Update Profile" }).click();
  await expect(toast(page, "Username not available")).toBeVisible();
  await page.getByRole("button", { name: "mira1", exact: true }).click();
  await expect(page.getByLabel("Username")).toHaveValue("mira1");

  await page.getByLabel("Username").fill(wanted);
  await expect(page.getByText(`${wanted} is available.`)).toBeVisible();
  await page.getByLabel("Display Name").fill("Mira of the Tests");
  await page.getByLabel("Bio").fill("Linen <script>alert(1)</script>and wool.");
  await page.getByLabel("Website").fill("mira.example");
  await page.getByLabel("Instagram").fill("https://instagram.com/mira");
  await expect(page.getByText("Please enter a valid URL for Website.")).toBeVisible();
  await page.getByLabel("Website").fill("https://mira.example");
  await saveScreenshot(page, "edit-profile");
  expect(await findViolations(page)).toEqual([]);
  await page.getByRole("button", { name: "Update Profile" }).click();

  await expect(toast(page, "Profile updated")).toContainText(
    "Your profile has been updated successfully.",
  );
  await expect(page.getByText("You have unsaved changes.")).toBeHidden();
  await expect(page.getByLabel("Bio")).toHaveValue("Linen and wool.");
  await page.goto(`/${wanted}`);
  await expect(page.getByRole("heading", { name: "Mira of the Tests" })).toBeVisible();
  await expect(page.getByText("Linen and wool.")).toBeVisible();
  await expect(page.getByRole("link", { name: /^Website/ })).toHaveAttribute(
    "href",
    "https://mira.example",
  );
  await page.getByRole("link", { name: "Edit Profile" }).click();
  await expect(page).toHaveURL("/profile/edit");
});

test("what was typed survives a reload and the end of the session, until Reset", async ({
  page,
  person,
}) => {
  await openSignedIn(page, person.email, "/profile?tab=edit");
  await page.getByLabel("Display Name").fill("Half a name");
  await expect(page.getByText("You have unsaved changes.")).toBeVisible();

  await page.reload();
  await expect(page.getByLabel("Display Name")).toHaveValue("Half a name");
  await signOut(page);
  await expect(page).toHaveURL("/");
  await page.goto("/profile-settings");
  await fillSignIn(page, person.email);
  await expect(page.getByRole("heading", { name: "Profile Settings" })).toBeVisible();
  await expect(page.getByLabel("Display Name")).toHaveValue("Half a name");
  await expect(page.getByText("You have unsaved changes.")).toBeVisible();

  await page.getByRole("button", { name: "Reset" }).click();
  await expect(page.getByLabel("Display Name")).toHaveValue("A Person");
  await expect(page.getByText("You have unsaved changes.")).toBeHidden();
  await page.reload();
  await expect(page.getByLabel("Display Name")).toHaveValue("A Person");
});

test("a draft stays with its user on a shared machine", { tag: "@once" }, async ({
  page,
  person,
}) => {
  await openSignedIn(page, person.email, "/profile/edit");
  await page.getByLabel("Bio").fill("A secret of mine");
  await signOut(page);
  await expect(page).toHaveURL("/");

  await openSignedIn(page, "noah@lookbook.test", "/profile/edit");

  await expect(page.getByLabel("Bio")).not.toHaveValue("");
  await expect(page.getByLabel("Bio")).not.toHaveValue("A secret of mine");
  await expect(page.getByText("You have unsaved changes.")).toBeHidden();
});

test("a server that is away while saving costs nothing", { tag: "@once" }, async ({
  page,
  pageErrors,
  person,
}) => {
  await openSignedIn(page, person.email, "/profile/edit");
  await page.getByLabel("Bio").fill("Written in a tunnel");
  pageErrors.expectNetworkFailures();
  await page.route("**/rest/v1/profiles*", (route) => route.abort("connectionrefused"));
  await page.getByRole("button", { name: "Update Profile" }).click();
  await expect(toast(page, "Error updating profile")).toBeVisible();
  await expect(page.getByLabel("Bio")).toHaveValue("Written in a tunnel");

  await page.unroute("**/rest/v1/profiles*");
  await page.getByRole("button", { name: "Update Profile" }).click();
  await expect(toast(page, "Profile updated")).toBeVisible();
});

test("an avatar is cropped, uploaded, replaced and removed", { tag: "@phone" }, async ({
  page,
  person,
}) => {
  await openSignedIn(page, person.email, "/profile");
  await page.getByRole("button", { name: "Edit Profile" }).click();
  const file = {
    name: "me.png",
    mimeType: "image/png",
    buffer: await drawPicture(page),
  };
  await page.getByLabel("Picture file of your avatar").setInputFiles(file);
  const dialog = page.getByRole("dialog", { name: "Crop your picture" });
  await expect(dialog.getByRole("img")).toBeVisible();
  // Far to the left, only the gold part is in the square.
  await dialog.getByLabel("Zoom").fill("4");
  await dialog.getByLabel("Horizontal position").fill("0");
  await saveScreenshot(page, "avatar-crop");
  expect(await findViolations(page)).toEqual([]);
  await dialog.getByRole("button", { name: "Use picture" }).click();

  await expect(toast(page, "Profile updated")).toBeVisible();
  const [first] = await storedFiles("avatars", person.id);
  expect(first).toMatch(/\.webp$/);
  const color = await page.evaluate(async (url) => {
    const bitmap = await createImageBitmap(await (await fetch(url)).blob());
    const context = new OffscreenCanvas(bitmap.width, bitmap.height).getContext("2d");
    context?.drawImage(bitmap, 0, 0);
    const pixel = context?.getImageData(bitmap.width - 2, 10, 1, 1).data ?? [];
    return { width: bitmap.width, isGold: (pixel[0] ?? 0) > 200 && (pixel[2] ?? 255) < 80 };
  }, `/storage/v1/object/public/avatars/${person.id}/${first}`);
  expect(color).toEqual({ width: 512, isGold: true });

  await page.getByLabel("Picture file of your avatar").setInputFiles(file);
  await dialog.getByRole("button", { name: "Use picture" }).click();
  await expect(async () => {
    const files = await storedFiles("avatars", person.id);
    expect(files).toHaveLength(1);
    expect(files[0]).not.toBe(first);
  }).toPass();

  await page.getByRole("button", { name: "Remove" }).click();
  await expect(page.getByRole("button", { name: "Upload picture" })).toBeVisible();
  await expect(async () => expect(await storedFiles("avatars", person.id)).toEqual([])).toPass();
  const { data } = await owner().from("profiles").select("avatar_url").eq("id", person.id).single();
  expect(data?.avatar_url).toBeNull();
});

test("a file that is no picture is refused", { tag: "@once" }, async ({ page, person }) => {
  await openSignedIn(page, person.email, "/profile/edit");
  const input = page.getByLabel("Picture file of your avatar");
  await input.setInputFiles({ name: "a.txt", mimeType: "text/plain", buffer: Buffer.from("x") });
  await expect(toast(page, "Please upload an image file.")).toBeVisible();

  await input.setInputFiles({ name: "a.png", mimeType: "image/png", buffer: Buffer.from("x") });
  await expect(toast(page, "Please upload a valid image file")).toBeVisible();
});
