// The admin area's items: adding with rows created on the way, searching, the limits of the form, deleting.

import { expectData, fetchRows, makeItem, makeOutfit, uniqueName } from "../support/catalogue.ts";
import { owner } from "../support/clients.ts";
import { openSection, row } from "./admin.ts";
import { expect, saveScreenshot, test, toast } from "./journey.ts";
import { findViolations } from "./measure.ts";

/** A retailer's number that no other test uses. */
function uniqueNumber(): number {
  return 8_000_000_000 + Math.floor(Math.random() * 1_000_000_000);
}

test("an item is added with a brand, subcategory and color made on the way", {
  tag: "@phone",
}, async ({ page }) => {
  const name = uniqueName("Item");
  const category = uniqueName("Category");
  expectData(await owner().from("categories").insert({ name: category }));
  await openSection(page, "items", "Items");
  await expect(row(page, "$").first()).toBeVisible();
  await saveScreenshot(page, "admin-items");
  expect(await findViolations(page)).toEqual([]);
  await page.getByRole("button", { name: "Add Item" }).click();
  const form = page.getByRole("dialog", { name: "Add Item" });
  await form.getByLabel("Name", { exact: true }).fill("X");
  await form.getByLabel("Price ($)").fill("-1");
  await form.getByLabel("Source URL").fill("javascript:0");
  await form.getByRole("button", { name: "Save", exact: true }).click();
  for (const text of [
    "Name must be at least 2 characters",
    "Price cannot be negative",
    "Brand is required",
    "Category is required",
    "Must be a valid URL",
  ]) {
    await expect(form.getByText(text)).toBeVisible();
  }
  await expect(form.getByLabel("Subcategory", { exact: true })).toBeDisabled();
  expect(await findViolations(page)).toEqual([]);
  await saveScreenshot(page, "admin-item-form");

  await form.getByLabel("Name", { exact: true }).fill(name);
  await form.getByLabel("Price ($)").fill("19.95");
  await form.getByLabel("Source URL").fill("https://shop.example/product/1");
  await form.getByRole("button", { name: "New brand" }).click();
  await form.getByLabel("Name of the new brand").fill(uniqueName("Brand"));
  await form.getByLabel("Name of the new brand").press("Enter");
  await expect(toast(page, "Brand created")).toBeVisible();
  await form.getByLabel("Category", { exact: true }).selectOption({ label: category });
  await form.getByRole("button", { name: "New subcategory" }).click();
  await form.getByLabel("Name of the new subcategory").fill("Short");
  await form.getByLabel("Name of the new subcategory").press("Enter");
  await expect(toast(page, "Subcategory created")).toBeVisible();
  await expect(form.getByLabel("Subcategory", { exact: true })).toHaveValue(/^[0-9a-f-]{36}$/);
  await form.getByRole("button", { name: "New color" }).click();
  await form.getByLabel("Name of the new color").fill(uniqueName("Color"));
  await form.getByLabel("Hex code of the new color").fill("#12345");
  await form.getByLabel("Hex code of the new color").press("Enter");
  await expect(toast(page, "Invalid color code")).toContainText(
    "Please enter a valid hex color code (e.g., #FF5733).",
  );
  await form.getByLabel("Hex code of the new color").fill("#123456");
  await form.getByLabel("Hex code of the new color").press("Enter");
  await expect(toast(page, "Color created")).toBeVisible();
  await form.getByRole("button", { name: "Save", exact: true }).click();
  await expect(toast(page, "Item created")).toBeVisible();

  const [made] = await fetchRows<Record<string, unknown>>("items", "name", name);
  expect(made).toMatchObject({ price: 19.95, gender: "unisex", product_id: null });
  expect(made?.slug).toBe(name.toLowerCase().replace(" ", "-"));
  expect(made?.colors).toHaveLength(1);
  expect(made?.subcategory_id).not.toBeNull();
});

test("an item is found by a part of its number, edited and deleted", async ({ page, person }) => {
  const item = await makeItem();
  const number = uniqueNumber();
  expectData(await owner().from("items").update({ product_id: number }).eq("id", item.id));
  const [{ name } = { name: "" }] = await fetchRows<{ name: string }>("items", "id", item.id);
  await openSection(page, "items", "Items");
  await page.getByRole("searchbox").fill(`${number}`.slice(1));
  await expect(row(page, name)).toBeVisible();
  await expect(page.getByRole("row")).toHaveCount(2);
  await page.getByRole("button", { name: `Edit ${name}` }).click();
  const form = page.getByRole("dialog", { name: "Edit Item" });
  await expect(form.getByLabel("Price ($)")).toHaveValue("49.50");
  await form.getByLabel("Name", { exact: true }).fill(`${name} II`);
  await form.getByLabel("Category", { exact: true }).selectOption({ index: 1 });
  await form.getByRole("button", { name: "Save", exact: true }).click();
  await expect(toast(page, "Item updated")).toBeVisible();

  const outfit = await makeOutfit(person, "rejected");
  expectData(
    await owner()
      .from("combines")
      .update({ item_ids: [item.id] })
      .eq("id", outfit.id),
  );
  await page.getByRole("button", { name: `Delete ${name} II` }).click();
  await expect(page.getByRole("alertdialog")).toContainText("It is taken out of 1 outfit.");
  await page.getByRole("alertdialog").getByRole("button", { name: "Delete" }).click();
  await expect(toast(page, "Item deleted")).toBeVisible();
  await expect(page.getByText("No item matches your search and filters.")).toBeVisible();
  expect(await fetchRows("items", "id", item.id)).toEqual([]);
});

test("a product that is there already is refused by name", { tag: "@once" }, async ({
  page,
  pageErrors,
}) => {
  pageErrors.expectStatus(409, "/rest/v1/items");
  const [first, second] = [await makeItem(), await makeItem()];
  const number = uniqueNumber();
  expectData(await owner().from("items").update({ product_id: number }).eq("id", first.id));
  const [{ name } = { name: "" }] = await fetchRows<{ name: string }>("items", "id", second.id);
  await openSection(page, `items?q=${encodeURIComponent(name)}`, "Items");
  await page.getByRole("button", { name: `Edit ${name}` }).click();
  const form = page.getByRole("dialog", { name: "Edit Item" });
  await form.getByLabel("Product ID").fill(`${number}`);
  await form.getByLabel("Category", { exact: true }).selectOption({ index: 1 });
  await form.getByRole("button", { name: "Save", exact: true }).click();

  await expect(toast(page, "Product already exists")).toContainText(
    "Good piece but it is already in your database.",
  );
  await expect(form).toBeVisible();
});

test("items: pages are links in a window of five", { tag: "@once" }, async ({ page }) => {
  await openSection(page, "items", "Items");
  const pages = page.getByRole("navigation", { name: "Pages" });
  await expect(pages.getByRole("button", { name: /^Page \d+$/ })).toHaveCount(5);
  await pages.getByRole("button", { name: "Page 5" }).click();
  await expect(page).toHaveURL(/page=5/);
  await expect(pages.getByRole("button", { name: "Page 5" })).toHaveAttribute(
    "aria-current",
    "page",
  );
  await expect(pages.getByRole("button", { name: "Page 3" })).toBeVisible();
  await expect(pages.getByRole("button", { name: "Page 2" })).toHaveCount(0);
});

test("items: a page far away, larger pages, those of a brand, and those without a category", {
  tag: "@once",
}, async ({ page }) => {
  const item = await makeItem();
  const brand = expectData(
    await owner().from("brands").select("name").eq("id", item.brand_id).single<{ name: string }>(),
  );
  await openSection(page, "items", "Items");
  const pages = page.getByRole("navigation", { name: "Pages" });
  await expect(pages.getByText(/^\d+ items$/)).toBeVisible();
  await pages.getByRole("textbox", { name: "Page" }).fill("6");
  await pages.getByRole("textbox", { name: "Page" }).press("Enter");
  await expect(page).toHaveURL(/page=6/);
  await pages.getByRole("combobox", { name: "Rows on a page" }).selectOption("50");
  await expect(page).toHaveURL(/\?size=50$/);
  await expect(page.getByRole("row")).toHaveCount(51);
  expect(await findViolations(page)).toEqual([]);
  await saveScreenshot(page, "admin-items-50");

  await page.goto(`/admin/brands?q=${encodeURIComponent(brand.name)}`);
  await page.getByRole("link", { name: `Items of ${brand.name}` }).click();
  await expect(page).toHaveURL(`/admin/items?brand=${item.brand_id}`);
  await expect(page.getByRole("row")).toHaveCount(2);
  await page.getByRole("combobox", { name: "What is missing" }).selectOption("category");
  await expect(page.getByRole("row")).toHaveCount(2);
  await page.getByRole("combobox", { name: "What is missing" }).selectOption("colors");
  await expect(page).toHaveURL(/without=colors/);
  await page.getByRole("link", { name: /^Page of / }).click();
  await expect(page).toHaveURL(`/product/${item.slug}`);
});
