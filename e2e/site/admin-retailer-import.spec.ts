// The admin area's import of a product from the retailer's page, served by a shop on this machine.

import type { Locator, Page } from "@playwright/test";
import { expectData, fetchRows, makeItem, uniqueName } from "../support/catalogue.ts";
import { owner } from "../support/clients.ts";
import { newProductNumber, productAddress } from "../support/shop.ts";
import { openSection } from "./admin.ts";
import { expect, saveScreenshot, test, toast } from "./journey.ts";
import { findViolations } from "./measure.ts";

async function openImport(page: Page): Promise<Locator> {
  await openSection(page, "items", "Items");
  await page.getByRole("button", { name: "Add Item" }).click();
  const form = page.getByRole("dialog", { name: "Add Item" });
  await form.getByRole("button", { name: "Import from Farfetch" }).click();
  return form;
}

test("a product is imported with its brand made on the way, and saved", async ({ page }) => {
  const brand = uniqueName("Maison");
  const number = newProductNumber();
  const address = productAddress("Wool coat", { brand, number });
  const category = uniqueName("Category");
  expectData(await owner().from("categories").insert({ name: category }).select());
  const form = await openImport(page);
  await form.getByLabel("Product URL").fill("https://shop.example/coat");
  await expect(form.getByText("Please enter a valid Farfetch product URL")).toBeVisible();
  // The form opened with the focus in the name, which the import will fill in.
  await expect(form.getByLabel("Name", { exact: true })).not.toHaveAccessibleDescription(/./);
  await expect(form.getByRole("button", { name: "Import", exact: true })).toBeDisabled();
  await form.getByLabel("Product URL").fill(`${address}?storeid=9`);
  await expect(form.getByText("Please enter a valid Farfetch product URL")).toHaveCount(0);
  expect(await findViolations(page)).toEqual([]);
  await form.getByLabel("Product URL").press("Enter");

  const preview = form.getByRole("region", { name: "Imported product" });
  await expect(preview).toContainText("$2,490.00");
  await expect(preview).toContainText("Women");
  await expect(preview).toContainText(`${brand} is not among your brands yet.`);
  const picture = preview.getByRole("img", { name: "Wool coat" });
  await expect
    .poll(() => picture.evaluate((image: HTMLImageElement) => image.naturalWidth))
    .toBeGreaterThan(100);
  await saveScreenshot(page, "admin-retailer-import");
  expect(await findViolations(page)).toEqual([]);
  await preview.getByRole("button", { name: "Create brand" }).click();
  await expect(toast(page, "Brand created")).toBeVisible();
  await preview.getByRole("button", { name: "Use this product" }).click();

  await expect(toast(page, "Product imported")).toBeVisible();
  await expect(form.getByLabel("Name", { exact: true })).toHaveValue("Wool coat");
  await expect(form.getByLabel("Price ($)")).toHaveValue("2490.00");
  await expect(form.getByLabel("Product ID")).toHaveValue(`${number}`);
  await expect(form.getByLabel("Gender")).toHaveValue("women");
  await expect(form.getByLabel("Source URL")).toHaveValue(address);
  // A list of more than fifty brands is a field that searches.
  const field = form.getByLabel("Brand", { exact: true });
  await expect
    .poll(() =>
      field.evaluate((control: HTMLSelectElement | HTMLInputElement) =>
        "selectedOptions" in control ? control.selectedOptions[0]?.text : control.value,
      ),
    )
    .toBe(brand);
  await form.getByLabel("Category", { exact: true }).selectOption({ label: category });
  await form.getByRole("button", { name: "Save", exact: true }).click();
  await expect(toast(page, "Item created")).toBeVisible();

  const [made] = await fetchRows<{ image: string }>("items", "product_id", `${number}`);
  expect(made).toMatchObject({ name: "Wool coat", price: 2490, source_url: address });
  expect((await page.request.get(made?.image ?? "")).headers()["content-type"]).toBe("image/jpeg");
});

test("a product that is there already is named so", { tag: "@once" }, async ({
  page,
  pageErrors,
}) => {
  pageErrors.expectStatus(409, "/functions/v1/fetch-farfetch");
  const item = await makeItem();
  const number = newProductNumber();
  expectData(await owner().from("items").update({ product_id: number }).eq("id", item.id));
  const form = await openImport(page);
  await form.getByLabel("Product URL").fill(productAddress("Coat", { number }));
  await form.getByRole("button", { name: "Import", exact: true }).click();

  await expect(toast(page, "Product already exists")).toContainText(
    "Good piece but it is already in your database.",
  );
  await expect(form.getByLabel("Product URL")).toBeVisible();
});

test("a page that cannot be read leaves the form to be filled in by hand", async ({
  page,
  pageErrors,
}) => {
  pageErrors.expectStatus(422, "/functions/v1/fetch-farfetch");
  const form = await openImport(page);
  await form.getByLabel("Product URL").fill(productAddress("no-product"));
  await form.getByRole("button", { name: "Import", exact: true }).click();

  await expect(toast(page, "Import failed")).toContainText(
    "Could not import product details. Please try manually.",
  );
  await expect(form.getByRole("alert")).toContainText(
    "Failed to import product data: Missing essential product data (name or image)",
  );
  expect(await findViolations(page)).toEqual([]);
  await saveScreenshot(page, "admin-retailer-import-failed");
  await form.getByRole("button", { name: "Cancel import" }).click();
  await expect(form.getByRole("button", { name: "Import from Farfetch" })).toBeVisible();
});

test("the picture of an import that is not saved is deleted", { tag: "@once" }, async ({
  page,
}) => {
  const form = await openImport(page);
  await form.getByLabel("Product URL").fill(productAddress("Silk shirt"));
  await form.getByRole("button", { name: "Import", exact: true }).click();
  const preview = form.getByRole("region", { name: "Imported product" });
  const address = await preview.getByRole("img").getAttribute("src");
  expect((await page.request.get(address ?? "")).status()).toBe(200);
  await preview.getByRole("button", { name: "Discard" }).click();
  await form.getByRole("button", { name: "Cancel", exact: true }).click();

  await expect(form).toHaveCount(0);
  await expect
    .poll(async () => (await page.request.get(address ?? "")).status())
    .toBeGreaterThanOrEqual(400);
});
