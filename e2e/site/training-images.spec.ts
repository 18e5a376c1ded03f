// Training photos: three private pictures, uploaded in pieces, replaced, deleted, shown by addresses that end.

import { writeFile } from "node:fs/promises";
import type { Page } from "@playwright/test";
import { owner } from "../support/clients.ts";
import { picture, squarePicture, storedFiles, withCameraData } from "../support/files.ts";
import { expect, openSignedIn, saveScreenshot, signIn, test, toast } from "./journey.ts";
import { findViolations } from "./measure.ts";

const bucket = "profile-avatars";

/** A PNG of this many bytes: readers ignore what follows the picture's end. */
function photo(name: string, bytes = 0) {
  const image = squarePicture(240);
  const padding = Buffer.alloc(Math.max(0, bytes - image.length));
  return { name, mimeType: "image/png", buffer: Buffer.concat([image, padding]) };
}

async function openUploader(page: Page): Promise<void> {
  await page.goto("/profile?tab=training-images");
  await page.getByRole("button", { name: "Edit Training Images" }).click();
  await expect(page.getByRole("button", { name: /^(Upload|Replace) photo 3$/ })).toBeVisible();
}

async function rows(userId: string): Promise<{ image_order: number; image_url: string }[]> {
  const { data, error } = await owner()
    .from("user_training_images")
    .select("image_order, image_url")
    .eq("user_id", userId)
    .order("image_order");
  if (error) {
    throw error;
  }
  return data;
}

test("three photos are uploaded, one is replaced and one is deleted", { tag: "@phone" }, async ({
  page,
  person,
}) => {
  const folder = `training-images/${person.id}`;
  await openSignedIn(page, person.email, "/profile?tab=training-images");
  await expect(page.getByText("Empty slot")).toHaveCount(3);
  await expect(page.locator('meta[name="referrer"]')).toHaveAttribute("content", "same-origin");
  expect(await findViolations(page)).toEqual([]);

  await openUploader(page);
  for (const slot of [1, 2, 3]) {
    await page.getByLabel(`File of photo ${slot}`).setInputFiles(photo(`me-${slot}.png`));
    await expect(toast(page, `Photo ${slot} is saved.`)).toContainText("Upload Successful");
    await expect(page.getByRole("button", { name: `Delete photo ${slot}` })).toBeVisible();
  }
  const first = await rows(person.id);
  expect(first.map(({ image_order }) => image_order)).toEqual([1, 2, 3]);
  await saveScreenshot(page, "training-images-editing");
  expect(await findViolations(page)).toEqual([]);

  await page.getByLabel("File of photo 2").setInputFiles(photo("better.png"));
  await expect(async () => {
    const replaced = await rows(person.id);
    expect(replaced[1]?.image_url).not.toBe(first[1]?.image_url);
    // The replaced file does not stay behind.
    const files = await storedFiles(bucket, folder);
    expect(files).toEqual(replaced.map(({ image_url }) => image_url.split("/").pop()).sort());
  }).toPass();

  await page.getByRole("button", { name: "Delete photo 1" }).click();
  const question = page.getByRole("alertdialog", { name: "Delete photo 1?" });
  await expect(question.getByRole("button", { name: "Cancel" })).toBeFocused();
  await question.getByRole("button", { name: "Delete photo" }).click();
  await expect(toast(page, "Image Deleted")).toBeVisible();
  await expect(page.getByRole("button", { name: "Upload photo 1" })).toBeVisible();
  expect((await rows(person.id)).map(({ image_order }) => image_order)).toEqual([2, 3]);
  expect(await storedFiles(bucket, folder)).toHaveLength(2);

  await page.getByRole("button", { name: "Done Editing" }).click();
  await expect(page.getByText("Empty slot")).toHaveCount(1);
  await page.getByRole("tab", { name: "My Outfits" }).click();
  await expect(page.getByText("Training images: 2 of 3")).toBeVisible();
});

const uploads = "**/storage/v1/upload/resumable/**";

/** Begins to upload a file, cuts the network after two of its pieces, and waits until the upload is given up. */
async function startAndCutOff(page: Page, file: string): Promise<void> {
  let pieces = 0;
  await page.route(uploads, (route) => {
    if (route.request().method() === "PATCH") {
      pieces += 1;
    }
    return pieces > 2 ? route.abort("connectionfailed") : route.continue();
  });
  await page.getByLabel("File of photo 1").setInputFiles(file);
  await expect(page.getByRole("progressbar", { name: "Uploading photo 1" })).toBeVisible();
  await expect(toast(page, "Upload Failed")).toBeVisible({ timeout: 60_000 });
  await expect(page.getByRole("alert")).toHaveText("The upload was interrupted.");
  await page.unroute(uploads);
}

/** Records at which byte each request of an upload begins. */
function recordOffsets(page: Page): number[] {
  const offsets: number[] = [];
  page.on("request", (request) => {
    if (request.method() === "PATCH" && request.url().includes("/upload/resumable/")) {
      offsets.push(Number(request.headers()["upload-offset"]));
    }
  });
  return offsets;
}

for (const way of ["a retry", "a reload"]) {
  test(`an upload that is cut off goes on where it stopped, after ${way}`, async ({
    page,
    pageErrors,
    person,
  }, testInfo) => {
    test.setTimeout(120_000);
    const { buffer } = photo("large.png", 4_500_000);
    const file = testInfo.outputPath("large.png");
    await writeFile(file, buffer);
    await signIn(page, person.email);
    await openUploader(page);
    pageErrors.expectNetworkFailures();
    await startAndCutOff(page, file);

    if (way === "a reload") {
      await openUploader(page);
    }
    const offsets = recordOffsets(page);
    if (way === "a reload") {
      await page.getByLabel("File of photo 1").setInputFiles(file);
    } else {
      await page.getByRole("button", { name: "Try again to upload photo 1" }).click();
    }
    await expect(toast(page, "Photo 1 is saved.")).toBeVisible({ timeout: 60_000 });

    expect(offsets[0]).toBeGreaterThan(0);
    const [row] = await rows(person.id);
    const { data } = await owner()
      .storage.from(bucket)
      .download(row?.image_url ?? "");
    expect(Buffer.from((await data?.arrayBuffer()) ?? new ArrayBuffer()).equals(buffer)).toBe(true);
  });
}

test("an upload can be cancelled", { tag: "@once" }, async ({ page, pageErrors, person }) => {
  await signIn(page, person.email);
  await openUploader(page);
  pageErrors.expectNetworkFailures();
  await page.route(uploads, () => undefined);
  await page.getByLabel("File of photo 1").setInputFiles(photo("large.png", 2_500_000));
  await page.getByRole("button", { name: "Cancel upload of photo 1" }).click();

  await expect(page.getByRole("button", { name: "Upload photo 1" })).toBeEnabled();
  await expect(page.getByText("Empty slot")).toHaveCount(3);
  expect(await rows(person.id)).toEqual([]);
});

test("what is no photo is refused by its bytes, with a sentence that helps", {
  tag: "@once",
}, async ({ page, person }) => {
  await signIn(page, person.email);
  await openUploader(page);
  const input = page.getByLabel("File of photo 1");
  // Phones hand over a JPEG where HEIC is not asked for.
  expect(await input.getAttribute("accept")).not.toMatch(/hei/i);
  await input.setInputFiles({ ...photo("notes.txt"), mimeType: "text/plain" });
  await expect(toast(page, "Please upload an image file.")).toContainText("Invalid File");
  await input.setInputFiles({ ...photo("drawing.svg"), mimeType: "image/svg+xml" });
  await expect(toast(page, "Please upload a valid image file")).toBeVisible();
  await input.setInputFiles(photo("huge.png", 10 * 1024 * 1024 + 1));
  await expect(toast(page, "File size must be less than 10MB")).toBeVisible();

  const heic = Buffer.from("\0\0\0\x18ftypheic\0\0\0\0mif1heic", "latin1");
  await input.setInputFiles({ name: "IMG_0001.HEIC", mimeType: "image/heic", buffer: heic });
  await expect(toast(page, "This browser cannot read HEIC photos.")).toBeVisible();
  await input.setInputFiles({ name: "tiny.png", mimeType: "image/png", buffer: picture() });
  await expect(toast(page, "needs at least 200 × 200 pixels")).toBeVisible();
  for (const text of ["", "no picture", "<svg xmlns='http://www.w3.org/2000/svg'/>"]) {
    await page.keyboard.press("Escape");
    await input.setInputFiles({ name: "a.jpg", mimeType: "image/jpeg", buffer: Buffer.from(text) });
    await expect(toast(page, "Please upload a valid image file").first()).toBeVisible();
  }
  await expect(page.getByText("Empty slot")).toHaveCount(3);
  expect(await rows(person.id)).toEqual([]);
});

test("a photo is uploaded upright, without the place where it was taken", {
  tag: "@once",
}, async ({ page, person }) => {
  await signIn(page, person.email);
  const drawn = await page.evaluate(async () => {
    const canvas = new OffscreenCanvas(400, 240);
    canvas.getContext("2d")?.fillRect(0, 0, 400, 240);
    const blob = await canvas.convertToBlob({ type: "image/jpeg" });
    return [...new Uint8Array(await blob.arrayBuffer())];
  });
  const buffer = withCameraData(Buffer.from(drawn));
  await openUploader(page);
  await page
    .getByLabel("File of photo 1")
    .setInputFiles({ name: "me.jpg", mimeType: "image/jpeg", buffer });
  await expect(toast(page, "Photo 1 is saved.")).toBeVisible();

  const [row] = await rows(person.id);
  expect(row?.image_url).toMatch(/\.jpg$/);
  const { data } = await owner()
    .storage.from(bucket)
    .download(row?.image_url ?? "");
  const stored = Buffer.from((await data?.arrayBuffer()) ?? new ArrayBuffer());
  expect(buffer.includes("Exif")).toBe(true);
  expect(stored.includes("Exif")).toBe(false);
  const size = await page.evaluate(
    async (bytes) => {
      const bitmap = await createImageBitmap(new Blob([new Uint8Array(bytes)]));
      return [bitmap.width, bitmap.height];
    },
    [...stored],
  );
  expect(size).toEqual([240, 400]);
});

test("an address that has ended is renewed while the page is open", { tag: "@once" }, async ({
  page,
  pageErrors,
  person,
}) => {
  await signIn(page, person.email);
  await openUploader(page);
  await page.getByLabel("File of photo 1").setInputFiles(photo("me.png"));
  await expect(toast(page, "Photo 1 is saved.")).toBeVisible();

  // The storage refuses the first address, as it does after an hour. It takes a second for that, because two addresses that
  // are signed within the same second are the same.
  const asked: string[] = [];
  await page.route("**/storage/v1/render/image/sign/**", async (route) => {
    const url = route.request().url();
    asked.push(url);
    if (url !== asked[0]) {
      return route.continue();
    }
    await new Promise((wake) => setTimeout(wake, 1_100));
    return route.fulfill({ status: 400, json: { statusCode: "400", error: "InvalidJWT" } });
  });
  pageErrors.expectStatusOfAny(400, "/storage/v1/render/image/sign/");
  await page.goto("/profile?tab=training-images");

  const shown = page.getByRole("list", { name: "Training photos" }).locator("img");
  await expect(shown).toBeVisible();
  await expect(async () => {
    expect(new Set(asked).size).toBeGreaterThan(1);
    expect(await shown.evaluate((image: HTMLImageElement) => image.naturalWidth)).toBeGreaterThan(
      0,
    );
  }).toPass();
});
