// The admin area's sections of the catalogue: tables, forms, pictures, deletion.

import { randomUUID } from "node:crypto";
import { expectData, fetchRows, makeItem, uniqueName } from "../support/catalogue.ts";
import { owner } from "../support/clients.ts";
import { leaveByEscape, openSection, row, tinyPicture } from "./admin.ts";
import { expect, expectNotice, recordNotices, saveScreenshot, test, toast } from "./journey.ts";
import { findViolations, measureOverflow } from "./measure.ts";

const sections = [
  { path: "brands", title: "Brands", noun: "Brand", table: "brands" },
  { path: "categories", title: "Categories", noun: "Category", table: "categories" },
  { path: "styles", title: "Item Styles", noun: "Style", table: "styles" },
  { path: "outfit-styles", title: "Outfit Styles", noun: "Outfit Style", table: "outfit_styles" },
];

for (const { path, title, noun, table } of sections) {
  const done = noun.charAt(0) + noun.slice(1).toLowerCase();

  test(`${path}: adding, finding, renaming and deleting a row`, async ({ page }) => {
    const name = uniqueName(noun);
    await recordNotices(page);
    await openSection(page, path, title);
    await page.getByRole("button", { name: `Add ${noun}` }).click();
    const form = page.getByRole("dialog", { name: `Add ${noun}` });
    await form.getByLabel("Name").fill("X");
    await form.getByRole("button", { name: "Save" }).click();
    await expect(form.getByText(/must be at least 2 characters/)).toBeVisible();
    await form.getByLabel("Name").fill(name);
    expect(await findViolations(page)).toEqual([]);
    await saveScreenshot(page, `admin-${path}-form`);
    await form.getByRole("button", { name: "Save" }).click();
    await expectNotice(page, `${done} created`);
    await expect(form).toHaveCount(0);

    await page.getByRole("searchbox").fill(name.slice(0, -1));
    await expect(page).toHaveURL(new RegExp(`/admin/${path}\\?q=`));
    await expect(row(page, name)).toBeVisible();
    await row(page, name)
      .getByRole("button", { name: `Edit ${name}` })
      .click();
    await page.getByRole("dialog").getByLabel("Name").fill(`${name} II`);
    await page.getByRole("dialog").getByRole("button", { name: "Save" }).click();
    await expectNotice(page, `${done} updated`);
    await expect(row(page, `${name} II`)).toBeVisible();

    await page.getByRole("button", { name: `Delete ${name} II` }).click();
    const question = page.getByRole("alertdialog");
    await expect(question).toContainText("Are you sure you want to delete this");
    await question.getByRole("button", { name: "Delete" }).click();
    await expectNotice(page, `${done} deleted`);
    await expect(row(page, name)).toHaveCount(0);
    expect(await fetchRows(table, "name", `${name} II`)).toEqual([]);
  });
}

test("brands: the table sorts, and its state is in the address", { tag: "@phone" }, async ({
  page,
}) => {
  const prefix = randomUUID().slice(0, 6);
  expectData(
    await owner()
      .from("brands")
      .insert(Array.from({ length: 12 }, (_, index) => ({ name: `${prefix} ${10 + index}` }))),
  );
  await openSection(page, "brands", "Brands");
  // With outfits to review, whose number is in the strip of sections.
  await expect(page.getByRole("link", { name: /Outfits \d+ to review/ })).toBeAttached();
  expect(await measureOverflow(page)).toBeLessThanOrEqual(0);
  await saveScreenshot(page, "admin-brands");
  expect(await findViolations(page)).toEqual([]);
  await page.getByRole("searchbox").fill(prefix);
  await page.getByRole("button", { name: "Name" }).click();
  await expect(page.getByRole("row").nth(1)).toContainText(`${prefix} 10`);
  await expect(page.getByText("Page 1 of 2")).toBeVisible();

  await page.getByRole("button", { name: "Name" }).click();
  await expect(page.getByRole("row").nth(1)).toContainText(`${prefix} 21`);
  await page.getByRole("button", { name: "Next" }).click();
  await expect(page.getByRole("row").nth(1)).toContainText(`${prefix} 11`);
  await page.reload();
  await expect(page.getByRole("row").nth(1)).toContainText(`${prefix} 11`);
  await expect(page.getByText("Page 2 of 2")).toBeVisible();
  await page.getByRole("searchbox").fill("no such brand");
  await expect(page.getByText("No brands match your search")).toBeVisible();
});

test("two administrators at one brand: neither takes back what the other has saved", {
  tag: "@once",
}, async ({ page, pageErrors }) => {
  pageErrors.expectStatus(409, "/rest/v1/brands");
  const name = uniqueName("Brand");
  const brand = expectData(
    await owner().from("brands").insert({ name }).select("id").single<{ id: string }>(),
  );
  const saveElsewhere = async (values: object) =>
    expectData(await owner().from("brands").update(values).eq("id", brand.id).select("id"));
  const read = async () => (await fetchRows("brands", "id", brand.id))[0];
  await openSection(page, "brands", "Brands");
  await page.goto(`/admin/brands?row=${brand.id}`);
  const form = page.getByRole("dialog", { name: "Edit Brand" });
  await form.getByLabel("Name").fill(`${name} II`);
  await saveElsewhere({ description: "Of the other" });
  await form.getByRole("button", { name: "Save" }).click();
  await expect(toast(page, "Brand updated")).toContainText("and kept: Description");
  expect(await read()).toMatchObject({ name: `${name} II`, description: "Of the other" });

  await page.goto(`/admin/brands?row=${brand.id}`);
  await form.getByLabel("Name").fill(`${name} III`);
  await form.getByLabel("Meta description").fill("Mine");
  await saveElsewhere({ name: `${name} IV`, meta_description: "Theirs", description: "Newer" });
  await form.getByRole("button", { name: "Save" }).click();
  const question = page.getByRole("alertdialog", { name: "Somebody else has changed this brand" });
  await expect(question).toContainText("kept as they saved it: Description");
  expect(await findViolations(page)).toEqual([]);
  await saveScreenshot(page, "admin-brands-overtaken");
  expect(await read()).toMatchObject({ name: `${name} IV` });
  await question
    .getByRole("group", { name: "Meta description" })
    .getByLabel(/^Theirs/)
    .check();
  await question.getByRole("button", { name: "Save" }).click();
  await expect(form).toHaveCount(0);
  expect(await read()).toMatchObject({
    name: `${name} III`,
    meta_description: "Theirs",
    description: "Newer",
  });
});

test("a brand with items is not deleted, and the reason counts them", async ({
  page,
  pageErrors,
}) => {
  pageErrors.expectStatus(409, "/rest/v1/brands");
  const item = await makeItem();
  const brand = expectData(
    await owner().from("brands").select("name").eq("id", item.brand_id).single<{ name: string }>(),
  );
  await openSection(page, "brands", "Brands");
  await page.getByRole("searchbox").fill(brand.name);
  await page.getByRole("button", { name: `Delete ${brand.name}` }).click();
  await page.getByRole("alertdialog").getByRole("button", { name: "Delete" }).click();

  await expect(toast(page, "Error")).toContainText("1 item is of this brand. Move it first.");
  await expect(row(page, brand.name)).toBeVisible();
});

test("a category's deletion says what it touches", { tag: "@once" }, async ({ page }) => {
  const name = uniqueName("Category");
  const category = expectData(
    await owner().from("categories").insert({ name }).select("id").single<{ id: string }>(),
  );
  expectData(
    await owner()
      .from("subcategories")
      .insert(["One", "Two"].map((part) => ({ name: part, category_id: category.id }))),
  );
  await openSection(page, "categories", "Categories");
  await page.getByRole("searchbox").fill(name);
  await page.getByRole("button", { name: `Delete ${name}` }).click();

  await expect(page.getByRole("alertdialog")).toContainText(
    "2 subcategories will be deleted, and 0 items stay without a category.",
  );
  await page.getByRole("alertdialog").getByRole("button", { name: "Cancel" }).click();
  expect(await fetchRows("categories", "id", category.id)).toHaveLength(1);
});

test("subcategories: a category is required, and filters the list", async ({ page }) => {
  const name = uniqueName("Subcategory");
  const parent = uniqueName("Category");
  expectData(await owner().from("categories").insert({ name: parent }));
  await openSection(page, "subcategories", "Subcategories");
  await page.getByRole("combobox", { name: "Category" }).selectOption({ label: parent });
  await expect(page.getByText("No subcategories available for this category")).toBeVisible();
  await page.getByRole("button", { name: "Add Subcategory" }).click();
  const form = page.getByRole("dialog");
  await form.getByLabel("Name").fill(name);
  await form.getByLabel("Category").selectOption("");
  await form.getByRole("button", { name: "Save" }).click();
  await expect(form.getByText("Please select a category")).toBeVisible();
  await form.getByLabel("Category").selectOption({ label: parent });
  await form.getByRole("button", { name: "Save" }).click();

  await expect(toast(page, "Subcategory created")).toBeVisible();
  await expect(row(page, name)).toContainText(parent);
});

test("colors: three digits are stored as six", async ({ page }) => {
  const name = uniqueName("Color");
  await openSection(page, "colors", "Colors");
  await page.getByRole("button", { name: "Add Color" }).click();
  const form = page.getByRole("dialog");
  await form.getByLabel("Name").fill(name);
  await form.getByLabel("Hex code").fill("red");
  await form.getByRole("button", { name: "Save" }).click();
  await expect(form.getByText("Invalid hex color code (e.g. #FF0000)")).toBeVisible();
  await form.getByLabel("Hex code").fill("#f0A");
  await form.getByRole("button", { name: "Save" }).click();

  await expect(toast(page, "Color created")).toBeVisible();
  expect(await fetchRows("colors", "name", name)).toMatchObject([{ hex_code: "#ff00AA" }]);
});

test("a replaced picture's file is deleted, one that another row shows stays", async ({ page }) => {
  const name = uniqueName("Brand");
  await openSection(page, "brands", "Brands");
  await page.getByRole("button", { name: "Add Brand" }).click();
  const form = page.getByRole("dialog");
  // The name has the focus and loses it to the button, which must not move between press and release.
  const chooser = page.waitForEvent("filechooser");
  await form.getByRole("button", { name: "Upload", exact: true }).click({ delay: 80 });
  await chooser;
  await expect(form.getByText("at least 2 characters")).toHaveCount(0);
  const upload = form.getByLabel("Upload logo");
  await upload.setInputFiles({ name: "a.txt", mimeType: "text/plain", buffer: tinyPicture });
  await expect(toast(page, "Invalid file type")).toContainText("Please upload an image file");
  await upload.setInputFiles({
    name: "large.png",
    mimeType: "image/png",
    buffer: Buffer.alloc(5 * 1024 * 1024 + 1),
  });
  await expect(toast(page, "File too large")).toContainText("Image must be less than 5MB");
  await upload.setInputFiles({ name: "a.png", mimeType: "image/png", buffer: tinyPicture });
  await expect(toast(page, "Image uploaded")).toBeVisible();
  await form.getByLabel("Name").fill(name);
  await form.getByRole("button", { name: "Save" }).click();
  await expect(toast(page, "Brand created")).toBeVisible();
  const [first] = await fetchRows<{ id: string; logo: string }>("brands", "name", name);
  expect(first?.logo).toMatch(/^\/storage\/v1\/object\/public\/brand-logos\/[0-9a-f-]+\.png$/);
  expect((await page.request.get(first?.logo ?? "")).status()).toBe(200);

  await page.getByRole("searchbox").fill(name);
  await page.getByRole("button", { name: `Edit ${name}` }).click();
  await form.getByRole("button", { name: "Remove" }).click();
  await form.getByRole("button", { name: "Save" }).click();
  await expect(toast(page, "Brand updated")).toBeVisible();
  await expect
    .poll(async () => (await page.request.get(first?.logo ?? "")).status())
    .toBeGreaterThanOrEqual(400);
});

test("the keyboard: n adds, escape asks before it discards, arrows and enter open a row", {
  tag: "@once",
}, async ({ page }) => {
  await openSection(page, "colors", "Colors");
  await expect(page.getByRole("button", { name: /^Edit / }).first()).toBeVisible();
  await page.keyboard.press("n");
  await page.getByRole("dialog", { name: "Add Color" }).getByLabel("Name").fill("Typed");
  await page.keyboard.press("Escape");
  await expect(page.getByRole("alertdialog", { name: "Discard changes?" })).toBeVisible();
  await page.getByRole("alertdialog").getByRole("button", { name: "Discard" }).click();
  await expect(page.getByRole("dialog")).toHaveCount(0);

  await page.getByRole("row").nth(1).focus();
  await page.keyboard.press("ArrowDown");
  await expect(page.getByRole("row").nth(2)).toBeFocused();
  await page.keyboard.press("Enter");
  const form = page.getByRole("dialog", { name: "Edit Color" });
  await expect(form.getByLabel("Name")).toBeFocused();
  await leaveByEscape(page, form);
  await expect(page.getByRole("row").nth(2)).toBeFocused();
  await page.keyboard.press("/");
  await expect(page.getByRole("searchbox")).toBeFocused();
});

test("what was typed is not lost by Cancel or Back without a question, and Back closes a clean panel", {
  tag: "@once",
}, async ({ page }) => {
  await openSection(page, "brands", "Brands");
  await page.getByRole("button", { name: "Add Brand" }).click();
  const form = page.getByRole("dialog", { name: "Add Brand" });
  await expect(form).toBeVisible();
  await page.goBack();
  await expect(form).toHaveCount(0);
  await expect(page).toHaveURL(/\/admin\/brands$/);

  await page.getByRole("button", { name: "Add Brand" }).click();
  await form.getByLabel("Name").fill("Typed");
  const question = page.getByRole("alertdialog", { name: "Discard changes?" });
  for (const leave of [
    () => form.getByRole("button", { name: "Cancel" }).click(),
    () => page.evaluate(() => window.history.back()),
  ]) {
    await leave();
    await expect(question).toBeVisible();
    await question.getByRole("button", { name: "Cancel" }).click();
    await expect(form.getByLabel("Name")).toHaveValue("Typed");
    await expect(page).toHaveURL(/row=new/);
  }

  await page.evaluate(() => window.history.back());
  await question.getByRole("button", { name: "Discard" }).click();
  await expect(form).toHaveCount(0);
});
