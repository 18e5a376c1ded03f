// The admin area by keyboard, links that lead to one row, and changes that are taken back.

import { expectData, fetchRows, makeItem, makeOutfit, uniqueName } from "../support/catalogue.ts";
import { owner } from "../support/clients.ts";
import { leaveByEscape, openSection, row } from "./admin.ts";
import { expect, saveScreenshot, test, toast } from "./journey.ts";
import { findViolations } from "./measure.ts";

async function insertRow(table: string, columns: Record<string, unknown>): Promise<string> {
  return expectData(await owner().from(table).insert(columns).select("id").single()).id;
}

test("a link leads to one row of every section, and closing the panel leaves the list", {
  tag: "@once",
}, async ({ page, person }) => {
  const name = uniqueName("Linked");
  const category_id = await insertRow("categories", { name });
  const item = await makeItem();
  const outfit = await makeOutfit(person, "pending");
  const links: [path: string, id: string, panel: string][] = [
    ["brands", item.brand_id, "Edit Brand"],
    ["categories", category_id, "Edit Category"],
    ["subcategories", await insertRow("subcategories", { name, category_id }), "Edit Subcategory"],
    ["items", item.id, "Edit Item"],
    ["combines", outfit.id, outfit.name],
    ["colors", await insertRow("colors", { name, hex_code: "#102030" }), "Edit Color"],
    ["styles", await insertRow("styles", { name }), "Edit Style"],
    ["outfit-styles", await insertRow("outfit_styles", { name }), "Edit Outfit Style"],
    ["users", person.id, person.username],
  ];
  await openSection(page, "brands", "Brands");
  for (const [path, id, title] of links) {
    // A search that finds nothing: the panel does not depend on what the table shows.
    await page.goto(`/admin/${path}?q=no-such-row&row=${id}`);
    const panel = page.getByRole("dialog", { name: title, exact: true });
    await expect(panel).toBeVisible();
    if (path === "users") {
      await expect(panel.getByText(person.email)).toBeVisible();
      expect(await findViolations(page)).toEqual([]);
      await saveScreenshot(page, "admin-user");
    }
    await panel.getByRole("button", { name: "Close" }).click();
    await expect(panel).toHaveCount(0);
    await expect(page).toHaveURL(`/admin/${path}?q=no-such-row`);
  }
});

test("a link to a row that is gone says so, and one to a new row opens the form", {
  tag: "@once",
}, async ({ page }) => {
  await openSection(page, "brands", "Brands");
  for (const id of ["00000000-0000-4000-8000-000000000000", "no-id"]) {
    await page.goto(`/admin/brands?row=${id}`);
    await expect(toast(page, "Error")).toContainText(
      "The link leads to a brand that does not exist any more.",
    );
    await expect(page).toHaveURL("/admin/brands");
  }
  await page.goto("/admin/brands?row=new");
  await expect(page.getByRole("dialog", { name: "Add Brand" })).toBeVisible();
});

test("rows are reached, opened and left by keys", { tag: "@once" }, async ({ page }) => {
  const prefix = uniqueName("Key");
  for (const letter of ["a", "b", "c"]) {
    await insertRow("brands", { name: `${prefix} ${letter}` });
  }
  await openSection(page, `brands?sort=name&dir=asc&q=${encodeURIComponent(prefix)}`, "Brands");
  const rowOf = (letter: string) => row(page, `${prefix} ${letter}`);
  await expect(rowOf("c")).toBeVisible();

  await page.keyboard.press("ArrowDown");
  await expect(rowOf("a")).toBeFocused();
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("ArrowDown");
  await expect(rowOf("c")).toBeFocused();
  await page.keyboard.press("ArrowUp");
  await expect(rowOf("b")).toBeFocused();
  await page.keyboard.press("Home");
  await expect(rowOf("a")).toBeFocused();
  await page.keyboard.press("End");
  await expect(rowOf("c")).toBeFocused();

  await page.keyboard.press("Enter");
  const form = page.getByRole("dialog", { name: "Edit Brand" });
  await expect(form.getByLabel("Name")).toHaveValue(`${prefix} c`);
  await expect(page).toHaveURL(/row=[0-9a-f-]{36}/);
  await leaveByEscape(page, form);
  await expect(rowOf("c")).toBeFocused();

  await page.keyboard.press("/");
  await expect(page.getByRole("searchbox")).toBeFocused();
  await page.keyboard.press("ArrowDown");
  await expect(rowOf("a")).toBeFocused();
  const heading = (name: string) => page.getByRole("heading", { name, level: 1 });
  await page.keyboard.press(".");
  await expect(heading("Categories")).toBeVisible();
  await page.keyboard.press(",");
  await expect(heading("Brands")).toBeVisible();
  await page.keyboard.press("n");
  await expect(page.getByRole("dialog", { name: "Add Brand" })).toBeVisible();
  // Keys of the page are letters again in a form.
  await page.keyboard.type("n/?x");
  await expect(page.getByRole("dialog", { name: "Add Brand" }).getByLabel("Name")).toHaveValue(
    "n/?x",
  );
  await page.keyboard.press("Escape");
  await page.getByRole("alertdialog").getByRole("button", { name: "Discard" }).click();
  await expect(page.getByRole("dialog")).toHaveCount(0);

  await page.keyboard.press("?");
  const help = page.getByRole("dialog", { name: "Keyboard shortcuts" });
  await expect(help.getByText("Move between rows")).toBeVisible();
  expect(await findViolations(page)).toEqual([]);
  await saveScreenshot(page, "admin-keys");
  await leaveByEscape(page, help);
});

test("an edit, a role and a review are taken back", { tag: "@once" }, async ({ page, person }) => {
  const name = uniqueName("Undone");
  const brand = await insertRow("brands", { name, description: "As it was" });
  const undo = (title: string) =>
    toast(page, title).getByRole("button", { name: "Undo", includeHidden: true }).click();
  await openSection(page, "brands", "Brands");
  await page.goto(`/admin/brands?row=${brand}`);
  const form = page.getByRole("dialog", { name: "Edit Brand" });
  await form.getByLabel("Name").fill(`${name} II`);
  await form.getByRole("textbox", { name: "Description", exact: true }).fill("");
  await form.getByRole("button", { name: "Save" }).click();
  await expect(toast(page, "Brand updated")).toBeVisible();
  await undo("Brand updated");
  await expect(toast(page, "Change undone")).toBeVisible();
  expect(await fetchRows("brands", "id", brand)).toMatchObject([
    { name, description: "As it was" },
  ]);

  await page.goto(`/admin/users?row=${person.id}`);
  const access = page.getByRole("dialog").getByRole("switch");
  await access.click();
  await expect(access).toBeChecked();
  await undo("User role updated");
  await expect(access).not.toBeChecked();
  expect(await fetchRows("profiles", "id", person.id)).toMatchObject([{ role: "user" }]);

  const outfits = [await makeOutfit(person, "pending"), await makeOutfit(person, "pending")];
  const [single, ticked] = outfits;
  await page.goto(`/admin/combines?row=${single?.id}`);
  await page.getByRole("dialog").getByRole("button", { name: "Approve" }).click();
  await expect(toast(page, "Combine Approved")).toBeVisible();
  await undo("Combine Approved");
  await expect
    .poll(
      async () =>
        (await fetchRows<{ status: string }>("combines", "id", single?.id ?? ""))[0]?.status,
    )
    .toBe("pending");
  expect(await fetchRows("notifications", "combine_id", single?.id ?? "")).toEqual([]);

  await page.goto(`/admin/combines?q=${encodeURIComponent(ticked?.name ?? "")}`);
  await row(page, ticked?.name ?? "").focus();
  await page.keyboard.press("x");
  await page.getByRole("button", { name: "Approve selected" }).click();
  await expect(toast(page, "1 approved")).toBeVisible();
  await undo("1 approved");
  await expect(toast(page, "Change undone")).toBeVisible();
  expect(await fetchRows("combines", "id", ticked?.id ?? "")).toMatchObject([
    { status: "pending" },
  ]);
});
