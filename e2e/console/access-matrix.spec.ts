// The access matrix: which roles are visible at once, and how a person reaches the others.

import { findViolations } from "../site/measure.ts";
import { expect, test } from "./console-test.ts";

test("console_080 the matrix shows the roles of requests beside each other, on phones as well", {
  tag: "@phone",
}, async ({ page }) => {
  await page.goto("/policies");
  const matrix = page.getByRole("grid", { name: "Access of roles to tables" });
  const row = matrix.getByRole("row").filter({ hasText: "shelves" });
  await expect(row).toBeVisible();
  const width = page.viewportSize()?.width ?? 0;
  for (const role of ["anon", "authenticated", "service_role"]) {
    const cell = row.getByRole("button", { name: new RegExp(`public\\.shelves, ${role} select`) });
    await expect(cell).toBeInViewport({ ratio: 1 });
    const head = await matrix.getByRole("columnheader", { name: role, exact: true }).boundingBox();
    const box = await cell.boundingBox();
    expect(box?.x).toBe(head?.x);
    expect((box?.x ?? width) + (box?.width ?? 0)).toBeLessThanOrEqual(width);
  }
  await expect(row.getByRole("rowheader")).toContainText("shelves");
  await expect(page.getByText("rows that a policy allows")).toBeVisible();
  expect(await findViolations(page)).toEqual([]);
});

test("console_080 the matrix takes the layout of the width that the window gets @once", async ({
  page,
}) => {
  await page.goto("/policies");
  const matrix = page.getByRole("grid", { name: "Access of roles to tables" });
  const row = matrix.getByRole("row").filter({ hasText: "shelves" });
  const height = async () => (await row.boundingBox())?.height ?? 0;
  await expect(row).toBeVisible();
  const before = await height();

  await page.setViewportSize({ width: 390, height: 844 });
  await expect.poll(height).toBeGreaterThan(before + 20);
  await page.setViewportSize({ width: 1440, height: 900 });
  await expect.poll(height).toBe(before);
});
