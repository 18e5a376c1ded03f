// The admin area's outfits: review with reasons, two concurrent administrators, adding, editing and deleting.

import type { Page } from "@playwright/test";
import { expectData, fetchRows, makeItem, makeOutfit, uniqueName } from "../support/catalogue.ts";
import { owner, type Person, signUpAdmin } from "../support/clients.ts";
import { openSection, tinyPicture } from "./admin.ts";
import { expect, saveScreenshot, test, toast } from "./journey.ts";
import { findViolations } from "./measure.ts";

async function openOutfits(page: Page, term: string): Promise<void> {
  await openSection(page, `combines?q=${encodeURIComponent(term)}`, "Outfits");
}

/** Uploads the three training photos of a person and their rows, as the profile page does. */
async function uploadTrainingPhotos({ id, client }: Person): Promise<void> {
  for (const slot of [1, 2, 3]) {
    const path = `training-images/${id}/${slot}.png`;
    const { error } = await client.storage
      .from("profile-avatars")
      .upload(path, tinyPicture, { contentType: "image/png" });
    if (error) throw error;
    expectData(
      await client.from("user_training_images").insert({
        image_url: `/storage/v1/object/authenticated/profile-avatars/${path}`,
        image_order: slot,
      }),
    );
  }
}

test("a submission is looked at with the creator's photos and approved", { tag: "@phone" }, async ({
  page,
  person,
}) => {
  await uploadTrainingPhotos(person);
  const outfit = await makeOutfit(person, "pending");
  await openOutfits(page, outfit.name);
  await page.getByRole("button", { name: `Look at ${outfit.name}` }).click();
  const panel = page.getByRole("dialog", { name: outfit.name });
  await expect(panel.getByText("Pending Review")).toBeVisible();
  await expect(panel.getByRole("img", { name: /^Slot / })).toHaveCount(3);
  for (const photo of await panel.getByRole("img", { name: /^Slot / }).all()) {
    await expect
      .poll(() => photo.evaluate((image: HTMLImageElement) => image.naturalWidth))
      .toBeGreaterThan(0);
  }
  await saveScreenshot(page, "admin-review");
  const widthOf = async (name: string) =>
    (await panel.getByRole("button", { name }).boundingBox())?.width ?? 0;
  const before = await widthOf("Enlarge the picture");
  await panel.getByRole("button", { name: "Enlarge the picture" }).click();
  expect(await widthOf("Make the picture smaller")).toBeGreaterThan(1.3 * before);
  expect(await findViolations(page)).toEqual([]);
  await panel.getByRole("button", { name: "Approve" }).click();

  await expect(toast(page, "Combine Approved")).toBeVisible();
  await expect(page.getByRole("row").nth(1)).toContainText("Approved");
  await expect(page.getByRole("button", { name: `Approve ${outfit.name}` })).toHaveCount(0);
  const [row] = await fetchRows<{ status: string; approved_by: string; approved_at: string }>(
    "combines",
    "id",
    outfit.id,
  );
  expect(row?.status).toBe("approved");
  expect(row?.approved_by).not.toBeNull();
  expect(row?.approved_at).not.toBeNull();
  // An outfit without a picture must not stay among the newest of the site, which other tests look at.
  expectData(await owner().from("combines").delete().eq("id", outfit.id));
});

test("submissions that wait are decided one after the other, by keys, and a double click decides one", {
  tag: "@once",
}, async ({ page, person }) => {
  const mark = uniqueName("Queue");
  const outfits = await Promise.all([1, 2, 3].map(() => makeOutfit(person, "pending")));
  for (const [index, { id }] of outfits.entries()) {
    const name = `${mark} ${index + 1}`;
    expectData(await owner().from("combines").update({ name }).eq("id", id).select("id"));
  }
  const statuses = () =>
    Promise.all(
      outfits.map(async ({ id }) => (await fetchRows<{ status: string }>("combines", "id", id))[0]),
    );
  const search = new URLSearchParams({ status: "pending", sort: "name", q: mark });
  await openSection(page, `combines?${search}`, "Outfits");
  await expect(page.getByRole("link", { name: /^Outfits \d+ to review$/ })).toBeVisible();
  await page.getByRole("button", { name: `Look at ${mark} 1` }).click();
  await page
    .getByRole("dialog", { name: `${mark} 1` })
    .getByRole("button", { name: "Approve" })
    .dblclick();
  await expect(page.getByRole("dialog", { name: `${mark} 2` })).toBeVisible();
  await page.keyboard.press("r");
  const question = page.getByRole("alertdialog");
  await question.getByLabel("Reason (optional)").fill("a r");
  await question.getByRole("button", { name: "Reject", exact: true }).click();
  await expect(page.getByRole("dialog", { name: `${mark} 3` })).toBeVisible();
  expect(await statuses()).toMatchObject([
    { status: "approved" },
    { status: "rejected" },
    { status: "pending" },
  ]);
  await page.keyboard.press("a");

  await expect(page.getByRole("dialog")).toHaveCount(0);
  await expect.poll(async () => (await statuses())[2]?.status).toBe("approved");
  await page.goBack();
  await expect(page.getByRole("dialog")).toHaveCount(0);
  // Outfits without a picture must not stay among the newest of the site, which other tests look at.
  expectData(await owner().from("combines").delete().like("name", `${mark}%`));
});

test("a submission is rejected with a reason that the creator reads", async ({ page, person }) => {
  const outfit = await makeOutfit(person, "pending");
  await openOutfits(page, outfit.name);
  await page.getByRole("button", { name: `Reject ${outfit.name}` }).click();
  const question = page.getByRole("alertdialog");
  await question.getByLabel("Reason (optional)").fill("The picture shows another outfit.");
  expect(await findViolations(page)).toEqual([]);
  await question.getByRole("button", { name: "Reject", exact: true }).click();

  await expect(toast(page, "Combine Rejected")).toBeVisible();
  const own = expectData(
    await person.client
      .from("combines")
      .select("status, rejection_reason")
      .eq("id", outfit.id)
      .single(),
  );
  expect(own).toEqual({
    status: "rejected",
    rejection_reason: "The picture shows another outfit.",
  });
});

test("a submission that comes again shows earlier rejections and what has changed", async ({
  page,
  person,
}) => {
  await uploadTrainingPhotos(person);
  const [before, after] = [await makeItem(), await makeItem()];
  const nameOf = async (id: string) =>
    (await fetchRows<{ name: string }>("items", "id", id))[0]?.name ?? "";
  const outfit = await makeOutfit(person, "pending");
  const update = async (columns: Record<string, unknown>) =>
    expectData(await owner().from("combines").update(columns).eq("id", outfit.id).select());
  await update({ item_ids: [before.id] });
  await update({ status: "rejected", rejection_reason: "The coat is out of the picture." });
  const name = `${outfit.name} again`;
  expectData(
    await person.client
      .from("combines")
      .update({ name, item_ids: [after.id] })
      .eq("id", outfit.id)
      .select(),
  );
  await openOutfits(page, name);
  await page.getByRole("button", { name: `Look at ${name}` }).click();
  const panel = page.getByRole("dialog", { name });
  const part = (title: RegExp) =>
    panel.locator("section").filter({ has: page.getByRole("heading", { name: title }) });

  const changes = part(/^Changed since the last review$/);
  await expect(changes.getByRole("deletion").first()).toContainText(outfit.name);
  await expect(changes.getByRole("insertion").first()).toContainText(name);
  await expect(changes).toContainText(`Removed: ${await nameOf(before.id)}`);
  await expect(changes).toContainText(`+ ${await nameOf(after.id)}`);
  const earlier = part(/^Earlier reviews \(1\)$/);
  await expect(earlier).toContainText("Rejected");
  await expect(earlier).toContainText("The coat is out of the picture.");
  await changes.scrollIntoViewIfNeeded();
  await saveScreenshot(page, "admin-review-history");
  expect(await findViolations(page)).toEqual([]);
});

test("what somebody else has decided or changed meanwhile is not decided again", {
  tag: "@once",
}, async ({ page, pageErrors, person }) => {
  pageErrors.expectStatus(409, "/rest/v1/rpc/review_combine");
  const other = await signUpAdmin();
  const decided = await makeOutfit(person, "pending");
  await openOutfits(page, decided.name);
  await expect(page.getByRole("button", { name: `Approve ${decided.name}` })).toBeVisible();
  expectData(await other.client.rpc("review_combine", { combine_id: decided.id, approve: false }));

  await page.getByRole("button", { name: `Approve ${decided.name}` }).click();

  await expect(toast(page, "Error")).toContainText("changed or reviewed after it was shown");
  await expect(page.getByRole("row").nth(1)).toContainText("Rejected");
  expect(await fetchRows("combines", "id", decided.id)).toMatchObject([{ status: "rejected" }]);
});

test("Review Pending shows what waits, and the filter is in the address", async ({
  page,
  person,
}) => {
  await makeOutfit(person, "pending");
  await openOutfits(page, "");
  await saveScreenshot(page, "admin-outfits");
  expect(await findViolations(page)).toEqual([]);
  await page.getByRole("button", { name: /^Review Pending/ }).click();

  await expect(page).toHaveURL(/status=pending/);
  await expect(page.getByLabel("Status")).toHaveValue("pending");
  const body = page.getByRole("table").locator("tbody");
  await expect(body.getByText("Pending Review").first()).toBeAttached();
  await expect(body.getByText("Approved", { exact: true })).toHaveCount(0);
  await page.getByLabel("Status").selectOption("rejected");
  await expect(page).toHaveURL(/status=rejected/);
});

test("an administrator adds an outfit, which is published at once, edits and deletes it", {
  tag: "@phone",
}, async ({ page, phone }) => {
  const name = uniqueName("Outfit");
  const item = await makeItem();
  const [row] = await fetchRows<{ name: string }>("items", "id", item.id);
  await openOutfits(page, name);
  await expect(page.getByText("No outfit matches your search and filters.")).toBeVisible();
  await page.getByRole("button", { name: "Add Outfit" }).click();
  const form = page.getByRole("dialog", { name: "Add New Outfit Combination" });
  await form.getByLabel("Name", { exact: true }).fill(name);
  await form.getByRole("button", { name: "Save" }).click();
  await expect(form.getByText("Main image is required")).toBeVisible();
  await form
    .getByLabel("Upload main image")
    .setInputFiles({ name: "a.png", mimeType: "image/png", buffer: tinyPicture });
  await expect(toast(page, "Image uploaded")).toBeVisible();
  await expect(form.getByLabel("Gender")).toHaveValue("women");
  await form.getByRole("searchbox", { name: "Search items" }).fill(row?.name ?? "");
  await form.getByRole("button", { name: `Add ${row?.name}` }).click();
  await expect(form.getByRole("button", { name: `Remove ${row?.name}` })).toBeVisible();
  await form.getByRole("checkbox", { name: "Evening" }).check({ force: true });
  expect(await findViolations(page)).toEqual([]);
  await form.getByRole("button", { name: "Save" }).click();
  await expect(toast(page, "Outfit combination created")).toBeVisible();
  const [made] = await fetchRows<{ id: string; main_image: string }>("combines", "name", name);
  expect(made).toMatchObject({
    status: "approved",
    created_by_admin: true,
    item_ids: [item.id],
    gender: "women",
  });
  await expect(page.getByRole("row").nth(1)).toContainText("Admin Created");

  await page.getByRole("button", { name: `Look at ${name}` }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Edit" }).click();
  const edit = page.getByRole("dialog", { name: "Edit Outfit Combination" });
  await edit.getByLabel("Name", { exact: true }).fill(`${name} II`);
  await edit.getByRole("button", { name: "Save" }).click();
  await expect(toast(page, "Outfit combination updated")).toBeVisible();

  if (phone) {
    await page.getByRole("button", { name: `Look at ${name} II` }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click();
  } else {
    await page.getByRole("button", { name: `Delete ${name} II` }).click();
  }
  await expect(page.getByRole("alertdialog")).toContainText(
    "Are you sure you want to delete this outfit combination?",
  );
  await page.getByRole("alertdialog").getByRole("button", { name: "Delete" }).click();
  await expect(toast(page, "Outfit combination deleted")).toBeVisible();
  expect(await fetchRows("combines", "id", made?.id ?? "")).toEqual([]);
  await expect
    .poll(async () => (await page.request.get(made?.main_image ?? "")).status())
    .toBeGreaterThanOrEqual(400);
});

test("changing the gender asks before it takes items out", { tag: "@once" }, async ({ page }) => {
  const name = uniqueName("Outfit");
  const [men, unisex] = [await makeItem(), await makeItem()];
  expectData(await owner().from("items").update({ gender: "men" }).eq("id", men.id));
  expectData(
    await owner()
      .from("combines")
      .insert({ name, gender: "men", item_ids: [men.id, unisex.id], status: "pending" }),
  );
  await openOutfits(page, name);
  await page.getByRole("button", { name: `Edit ${name}` }).click();
  const form = page.getByRole("dialog", { name: "Edit Outfit Combination" });
  await expect(form.getByRole("list", { name: "Chosen items" }).getByRole("listitem")).toHaveCount(
    2,
  );
  await form.getByLabel("Gender").selectOption("women");
  const question = page.getByRole("alertdialog");
  await expect(question).toContainText("1 item does not fit");
  await question.getByRole("button", { name: "Cancel" }).click();
  await expect(form.getByLabel("Gender")).toHaveValue("men");
  await form.getByLabel("Gender").selectOption("women");
  await question.getByRole("button", { name: "Change" }).click();

  await expect(form.getByLabel("Gender")).toHaveValue("women");
  await expect(form.getByRole("list", { name: "Chosen items" }).getByRole("listitem")).toHaveCount(
    1,
  );
});

test("ticked submissions are decided together, and one changed meanwhile is left alone", {
  tag: "@once",
}, async ({ page, person }) => {
  const word = uniqueName("Together");
  const outfits = [];
  for (let count = 0; count < 3; count += 1) {
    const outfit = await makeOutfit(person, "pending");
    expectData(
      await owner()
        .from("combines")
        .update({ name: `${word} ${count}` })
        .eq("id", outfit.id),
    );
    outfits.push(outfit);
  }
  await openOutfits(page, word);
  await page.getByRole("checkbox", { name: `Select ${word} 0` }).check();
  await page
    .getByRole("row")
    .filter({ hasText: `${word} 1` })
    .focus();
  await page.keyboard.press("x");
  await page.getByRole("checkbox", { name: `Select ${word} 2` }).check();
  await expect(page.getByText("3 selected")).toBeVisible();
  expect(await findViolations(page)).toEqual([]);
  await saveScreenshot(page, "admin-bulk-review");
  expectData(
    await owner()
      .from("combines")
      .update({ description: "Another picture" })
      .eq("id", outfits[2]?.id ?? ""),
  );
  await page.getByRole("button", { name: "Reject selected" }).click();
  const question = page.getByRole("alertdialog", { name: "Reject 3 outfits?" });
  await question.getByLabel("Reason (optional)").fill("Too dark");
  await question.getByRole("button", { name: "Reject", exact: true }).click();

  await expect(toast(page, "2 rejected")).toBeVisible();
  await expect(toast(page, "Error")).toContainText("1 outfit was changed or reviewed meanwhile.");
  await expect(page.getByText(/selected$/)).toHaveCount(0);
  const rows = expectData(
    await owner()
      .from("combines")
      .select("status, rejection_reason")
      .like("name", `${word}%`)
      .order("name"),
  );
  expect(rows).toEqual([
    { status: "rejected", rejection_reason: "Too dark" },
    { status: "rejected", rejection_reason: "Too dark" },
    { status: "pending", rejection_reason: null },
  ]);
});
