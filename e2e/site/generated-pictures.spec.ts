// Outfits on the signed-in user: asked for on the page of an outfit, shown there and among the training images.

import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import type { Page } from "@playwright/test";
import { owner, type Person } from "../support/clients.ts";
import { storedFiles } from "../support/files.ts";
import { expect, openSignedIn, saveScreenshot, test } from "./journey.ts";
import { findViolations } from "./measure.ts";

const bucket = "profile-avatars";

interface Outfit {
  id: string;
  slug: string;
  name: string;
}

/** A published outfit of the seed, whose items have pictures. */
async function seededOutfit(): Promise<Outfit> {
  const { data, error } = await owner()
    .from("combines")
    .select("id, slug, name")
    .eq("status", "approved")
    .like("main_image", "%/combine-images/%")
    .order("created_at")
    .limit(1)
    .single<Outfit>();
  if (error) throw error;
  return data;
}

/** Uploads three photos. */
async function uploadPhotos(person: Person): Promise<void> {
  const portrait = resolve(import.meta.dirname, "../../sql/app/seed/avatars/camille.webp");
  const photo = await readFile(portrait);
  for (const slot of [1, 2, 3]) {
    const name = `training-images/${person.id}/photo-${slot}.webp`;
    const uploaded = await person.client.storage
      .from(bucket)
      .upload(name, photo, { contentType: "image/webp" });
    if (uploaded.error) throw uploaded.error;
    const { error } = await person.client
      .from("user_training_images")
      .insert({ user_id: person.id, image_url: name, image_order: slot });
    if (error) throw error;
  }
}

/** Inserts a job in this state; a waiting one is not due, so that no worker takes it. */
async function insertJob(
  person: Person,
  outfit: Outfit,
  columns: Record<string, unknown>,
): Promise<string> {
  const { data, error } = await owner()
    .from("generated_pictures")
    .insert({
      user_id: person.id,
      combine_id: outfit.id,
      title: outfit.name,
      input: { sources: [] },
      result_bucket: bucket,
      result_folder: `${person.id}/generated`,
      run_after: "2999-01-01T00:00:00Z",
      ...columns,
    })
    .select("id")
    .single();
  if (error) throw error;
  return data.id;
}

function onYou(page: Page) {
  return page.getByRole("region", { name: "See it on you" });
}

test("visitors are not asked for photos, and users without photos are led to them", async ({
  page,
  person,
}) => {
  const outfit = await seededOutfit();
  await page.goto(`/look/${outfit.slug}`);
  await expect(page.getByRole("heading", { name: outfit.name, level: 1 })).toBeVisible();
  await expect(onYou(page)).toHaveCount(0);

  await openSignedIn(page, person.email, `/look/${outfit.slug}`);
  await expect(onYou(page)).toContainText("Upload your 3 training images");
  expect(await findViolations(page)).toEqual([]);
  await onYou(page).getByRole("link", { name: "Add Training Images" }).click();

  await expect(page.getByRole("heading", { name: "Training Images" })).toBeVisible();
  await expect(page.getByRole("region", { name: "Your Pictures" })).toContainText(
    "You have no pictures yet.",
  );
});

test("a picture is asked for, shown as a preview, saved and deleted", { tag: "@phone" }, async ({
  page,
  person,
}) => {
  const outfit = await seededOutfit();
  await uploadPhotos(person);
  await openSignedIn(page, person.email, `/look/${outfit.slug}`);
  await expect(onYou(page)).toContainText("It can take several hours.");
  await expect(page.locator('meta[name="referrer"]')).toHaveAttribute("content", "same-origin");
  await onYou(page).getByRole("button", { name: "Make my picture" }).click();

  const preview = page.getByRole("img", { name: `Preview of ${outfit.name} with your photo` });
  await expect(preview).toBeVisible({ timeout: 30_000 });
  await expect(onYou(page)).toContainText("It does not show you wearing them.");
  expect(await findViolations(page)).toEqual([]);
  await preview.scrollIntoViewIfNeeded();
  await saveScreenshot(page, "outfit-on-you");

  await page.goto("/profile?tab=training-images");
  const own = page.getByRole("region", { name: "Your Pictures" });
  await expect(own.getByRole("link", { name: outfit.name, exact: true })).toBeVisible();
  await expect(own.getByRole("img")).toBeVisible();
  expect(await findViolations(page)).toEqual([]);
  await own.getByRole("img").scrollIntoViewIfNeeded();
  await saveScreenshot(page, "own-pictures");
  const download = page.waitForEvent("download");
  await own.getByRole("link", { name: `Download the picture of ${outfit.name}` }).click();
  expect((await download).suggestedFilename()).toMatch(/^[a-z0-9-]+\.jpg$/);

  await own.getByRole("button", { name: `Delete the picture of ${outfit.name}` }).click();
  const question = page.getByRole("alertdialog", { name: "Delete this picture?" });
  await expect(question.getByRole("button", { name: "Cancel" })).toBeFocused();
  await question.getByRole("button", { name: "Delete" }).click();
  await expect(own).toContainText("You have no pictures yet.");
  expect(await storedFiles(bucket, `${person.id}/generated`)).toEqual([]);
});

test("a picture that failed says why and is tried again", async ({ page, person }) => {
  const outfit = await seededOutfit();
  await uploadPhotos(person);
  const reason = "Nobody is visible in the photo.";
  await insertJob(person, outfit, { status: "failed", error: reason, attempts: 3 });
  await openSignedIn(page, person.email, `/look/${outfit.slug}`);
  await expect(onYou(page)).toContainText("The picture could not be made.");
  await expect(onYou(page)).toContainText(reason);
  expect(await findViolations(page)).toEqual([]);
  await saveScreenshot(page, "outfit-on-you-failed");

  await onYou(page)
    .getByRole("button", { name: `Try again to make the picture of ${outfit.name}` })
    .click();

  await expect(onYou(page).getByRole("img")).toBeVisible({ timeout: 30_000 });
});

test("progress is shown while the page is open, and a picture is cancelled", async ({
  page,
  person,
}) => {
  const outfit = await seededOutfit();
  await uploadPhotos(person);
  const id = await insertJob(person, outfit, {});
  await openSignedIn(page, person.email, "/profile?tab=training-images");
  const own = page.getByRole("region", { name: "Your Pictures" });
  await expect(own).toContainText("Your picture is waiting.");
  const bar = own.getByRole("progressbar", { name: `Picture of ${outfit.name}` });
  await expect(bar).toHaveAttribute("aria-valuenow", "0");

  const running = { status: "running", progress: 40, lease_until: "2999-01-01T00:00:00Z" };
  await owner().from("generated_pictures").update(running).eq("id", id);
  await expect(bar).toHaveAttribute("aria-valuenow", "40", { timeout: 15_000 });
  await expect(own).toContainText("Your picture is being made.");
  expect(await findViolations(page)).toEqual([]);
  await bar.scrollIntoViewIfNeeded();
  await saveScreenshot(page, "own-pictures-running");

  await own.getByRole("button", { name: `Cancel the picture of ${outfit.name}` }).click();
  await expect(own).toContainText("You cancelled this picture.");
  const { data } = await owner().from("generated_pictures").select("status").eq("id", id).single();
  expect(data?.status).toBe("cancelled");
});
