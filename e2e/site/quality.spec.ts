// What holds on every screen: nothing that axe objects to, and nothing that jumps.

import { AxeBuilder } from "@axe-core/playwright";
import type { Page } from "@playwright/test";
import { cards, expect, openExplore, signIn, test } from "./journey.ts";

/** One line per finding: the rule, and where. Judged at rest, for colours halfway through a fade are nobody's. */
async function findings(page: Page): Promise<string[]> {
  await page.evaluate(() =>
    Promise.all(
      document
        .getAnimations()
        .filter((animation) => animation.effect?.getComputedTiming().endTime !== Infinity)
        .map((animation) => animation.finished.catch(() => undefined)),
    ),
  );
  const { violations } = await new AxeBuilder({ page }).analyze();
  return violations.flatMap(({ id, help, nodes }) =>
    nodes.map((node) => `${id}: ${help} at ${node.target.join(" ")}`),
  );
}

test.describe("axe finds nothing", () => {
  test("on the explore grid", async ({ page }) => {
    await openExplore(page);
    expect(await findings(page)).toEqual([]);
  });

  test("in the modal", async ({ page }) => {
    await page.goto("/?outfit=night-bus");
    await expect(page.getByRole("dialog", { name: "Night Bus" })).toBeVisible();
    await expect(page.getByRole("dialog").getByRole("listitem").first()).toBeVisible();
    expect(await findings(page)).toEqual([]);
  });

  test("on sign-in and sign-up", async ({ page }) => {
    await page.goto("/auth");
    await expect(page.getByRole("heading", { name: "Sign In" })).toBeVisible();
    expect(await findings(page)).toEqual([]);
    await page.getByRole("tab", { name: "Sign Up" }).click();
    await expect(page.getByRole("heading", { name: "Create Account" })).toBeVisible();
    expect(await findings(page)).toEqual([]);
  });

  test("on one's likes", async ({ page }) => {
    await signIn(page, "noah@lookbook.test");
    await page.goto("/?section=likes");
    await expect(cards(page, "Your Liked Outfits").first()).toBeVisible();
    expect(await findings(page)).toEqual([]);
  });

  test("on an outfit's own page and where nothing is", async ({ page }) => {
    await page.goto("/look/night-bus");
    await expect(page.getByRole("heading", { name: "Night Bus" })).toBeVisible();
    expect(await findings(page)).toEqual([]);
    await page.goto("/no/such/page");
    await expect(page.getByText("404", { exact: true })).toBeVisible();
    expect(await findings(page)).toEqual([]);
  });
});

test("the explore page does not move while it loads", async ({ page }) => {
  await page.addInitScript(() => {
    Object.assign(window, { shifts: [] });
    new PerformanceObserver((list) => {
      for (const entry of list.getEntries() as (PerformanceEntry & {
        value: number;
        hadRecentInput: boolean;
      })[]) {
        if (!entry.hadRecentInput) {
          (window as unknown as { shifts: number[] }).shifts.push(entry.value);
        }
      }
    }).observe({ type: "layout-shift", buffered: true });
  });
  await openExplore(page);
  await page.waitForLoadState("networkidle");

  const shifts = await page.evaluate(() => (window as unknown as { shifts: number[] }).shifts);

  expect(shifts.reduce((sum, shift) => sum + shift, 0)).toBeLessThan(0.05);
});

test("nothing is wider than the screen", async ({ page }) => {
  for (const address of ["/", "/?outfit=night-bus", "/auth", "/look/night-bus", "/mira"]) {
    await page.goto(address);
    await page.waitForLoadState("networkidle");
    const overflow = await page.evaluate(
      () => document.documentElement.scrollWidth - document.documentElement.clientWidth,
    );
    expect(overflow, `sideways overflow at ${address}`).toBeLessThanOrEqual(0);
  }
});
