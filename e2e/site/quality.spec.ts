// Checks of every screen: no accessibility violations, no layout shifts, no horizontal scrolling.

import type { Page } from "@playwright/test";
import { signUpAdmin } from "../support/clients.ts";
import { cards, expect, openExplore, openSignedIn, signIn, test } from "./journey.ts";
import { findMisnamed, findViolations, measureOverflow, recordLayoutShifts } from "./measure.ts";

test.use({ contextOptions: { reducedMotion: "no-preference" } });

test.describe("axe finds no violations", () => {
  test("on the explore grid", { tag: "@phone" }, async ({ page }) => {
    await openExplore(page);
    expect(await findViolations(page)).toEqual([]);
  });

  test("in the modal", { tag: "@phone" }, async ({ page }) => {
    await page.goto("/?outfit=night-bus");
    await expect(page.getByRole("dialog", { name: "Night Bus" })).toBeVisible();
    await expect(page.getByRole("dialog").getByRole("listitem").first()).toBeVisible();
    expect(await findViolations(page)).toEqual([]);
  });

  test("on sign-in and sign-up", { tag: "@phone" }, async ({ page }) => {
    await page.goto("/auth");
    await expect(page.getByRole("heading", { name: "Sign In" })).toBeVisible();
    expect(await findViolations(page)).toEqual([]);
    await page.getByRole("tab", { name: "Sign Up" }).click();
    await expect(page.getByRole("heading", { name: "Create Account" })).toBeVisible();
    expect(await findViolations(page)).toEqual([]);
  });

  test("on Discovery, its filters and the items", { tag: "@phone" }, async ({ page, phone }) => {
    await page.goto("/discovery?brand=corvane&color=camel");
    await expect(cards(page, "Found outfits").first()).toBeVisible();
    await page.getByRole("button", { name: "Filters, 2 chosen" }).click();
    await expect(page.getByRole("button", { name: "Corvane", exact: true })).toBeVisible();
    expect(await findViolations(page)).toEqual([]);
    if (phone) {
      await page.getByRole("button", { name: /^Show \d+ outfits?$/ }).click();
    }
    await page.getByRole("tab", { name: "Items" }).click();
    await expect(cards(page, "Found items").first()).toBeVisible();
    expect(await findViolations(page)).toEqual([]);
  });

  test("in the other theme of the dashboard and of the reading pages", { tag: "@phone" }, async ({
    page,
  }) => {
    await page.addInitScript(() => {
      const theme = location.pathname === "/" ? "light" : "dark";
      localStorage.setItem("lookbook:appearance", theme);
    });
    await openExplore(page);
    expect(await findViolations(page)).toEqual([]);
    await page.goto("/discovery");
    await expect(cards(page, "Found outfits").first()).toBeVisible();
    expect(await findViolations(page)).toEqual([]);
  });

  test("with an open menu", { tag: "@phone" }, async ({ page, person }) => {
    await openExplore(page);
    for (const name of ["Notifications", "Appearance"]) {
      await page.getByRole("button", { name, exact: true }).click();
      await expect(page.getByRole("menu")).toBeVisible();
      expect(await findViolations(page), `${name} of a visitor`).toEqual([]);
      await page.keyboard.press("Escape");
      await expect(page.getByRole("menu")).toHaveCount(0);
    }
    await person.client
      .from("profiles")
      .update({ full_name: "W".repeat(60) })
      .eq("id", person.id);
    await signIn(page, person.email);
    for (const name of [/^Notifications/, /^Account menu of /]) {
      await page.getByRole("banner").getByRole("button", { name }).click();
      await expect(page.getByRole("menu").getByRole("menuitem").last()).toBeVisible();
      expect(await findViolations(page), `${name}`).toEqual([]);
      // The menu stays on the screen, however long a name is.
      const box = await page.getByRole("menu").boundingBox();
      expect(box?.x).toBeGreaterThanOrEqual(0);
      expect((box?.x ?? 0) + (box?.width ?? 0)).toBeLessThanOrEqual(
        page.viewportSize()?.width ?? 0,
      );
      expect(box?.width).toBeLessThanOrEqual(384);
      await page.keyboard.press("Escape");
      await expect(page.getByRole("menu")).toHaveCount(0);
    }
  });

  test("with the filter and the time range open, which touch reaches", { tag: "@phone" }, async ({
    page,
    phone,
  }) => {
    const least = phone ? 44 : 24;
    const subjects = [
      { address: "/", name: "Filter", role: phone ? "dialog" : "menu" },
      { address: "/?section=top", name: /^Time range/, role: "menu" },
    ] as const;
    for (const { address, name, role } of subjects) {
      await page.goto(address);
      await page.getByRole("button", { name }).click();
      await expect(page.getByRole(role)).toBeVisible();
      expect(await findViolations(page), `${name}`).toEqual([]);
      expect(await findSmallTargets(page, least), `${name}`).toEqual([]);
      await page.keyboard.press("Escape");
      await expect(page.getByRole(role)).toHaveCount(0);
    }
  });

  test("on the likes", { tag: "@phone" }, async ({ page }) => {
    await openSignedIn(page, "noah@lookbook.test", "/?section=likes");
    await expect(cards(page, "Your Liked Outfits").first()).toBeVisible();
    expect(await findViolations(page)).toEqual([]);
  });

  test("on Top, and on bookmarks and own outfits with and without any", { tag: "@phone" }, async ({
    page,
    person,
  }) => {
    await page.goto("/?section=top");
    await expect(cards(page, "Top Outfits - All Time").first()).toBeVisible();
    expect(await findViolations(page), "top").toEqual([]);

    for (const email of ["mira@lookbook.test", person.email]) {
      await page.context().clearCookies();
      await page.evaluate(() => localStorage.clear());
      await signIn(page, email);
      for (const [section, heading] of [
        ["bookmarks", "Your Bookmarked Outfits"],
        ["my-outfits", "My outfits"],
      ] as const) {
        await page.goto(`/?section=${section}`);
        await expect(page.getByRole("heading", { name: heading, level: 1 })).toBeVisible();
        await page.waitForLoadState("networkidle");
        expect(await findViolations(page), `${section} of ${email}`).toEqual([]);
      }
    }
  });

  test("on a public profile, for visitors and its owner, and on item and brand", {
    tag: "@phone",
  }, async ({ page }) => {
    for (const address of [
      "/mira",
      "/product/camel-overcoat",
      "/brands/98f14b3c-b854-51b4-b804-8e7298971d74",
    ]) {
      await page.goto(address);
      await expect(page.getByRole("heading", { level: 1 })).toBeVisible();
      await page.waitForLoadState("networkidle");
      expect(await findViolations(page), address).toEqual([]);
    }
    await openSignedIn(page, "mira@lookbook.test", "/mira");
    await expect(page.getByRole("heading", { name: "Your Outfits" })).toBeVisible();
    expect(await findViolations(page), "own profile").toEqual([]);
  });

  test("on an outfit's page and on the 404 page", { tag: "@phone" }, async ({
    page,
    pageErrors,
  }) => {
    pageErrors.expectStatus(404, "/no/such/page");
    await page.goto("/look/night-bus");
    await expect(page.getByRole("heading", { name: "Night Bus" })).toBeVisible();
    expect(await findViolations(page)).toEqual([]);
    await page.goto("/no/such/page");
    await expect(page.getByText("404", { exact: true })).toBeVisible();
    expect(await findViolations(page)).toEqual([]);
  });
});

test("the explore page does not move while it loads", { tag: "@phone" }, async ({ page }) => {
  const shifts = await recordLayoutShifts(page);
  await openExplore(page);
  await page.waitForLoadState("networkidle");

  expect(await shifts()).toBeLessThan(0.05);
});

test("the sign-in form does not move when the providers' buttons arrive", {
  tag: "@phone",
}, async ({ page }) => {
  const shifts = await recordLayoutShifts(page);
  for (const address of ["/auth", "/auth?mode=signup"]) {
    await page.goto(address);
    await expect(page.getByRole("button", { name: "Continue with Google" })).toBeVisible();
    await expect(page.locator("#root > [inert]")).toHaveCount(0);
    await page.waitForLoadState("networkidle");

    expect(await shifts(), address).toBe(0);
  }
});

/** Visible controls that are smaller than this many pixels in one direction, one line each. */
async function findSmallTargets(page: Page, pixels: number): Promise<string[]> {
  return page.evaluate((least) => {
    const controls = "a[href], button, input, select, textarea, [role=tab], [role=menuitem]";
    return [...document.querySelectorAll<HTMLElement>(controls)].flatMap((element) => {
      // A click on the label around a box is one on the box.
      const target = element.closest("label") ?? element;
      const { width, height, bottom } = target.getBoundingClientRect();
      const isShown = element.checkVisibility({ visibilityProperty: true }) && bottom > 0;
      // Half a pixel of tolerance: rows of flexible boxes may end between two pixels.
      const isLarge = Math.min(width, height) > least - 0.5;
      // Elements for screen readers only are one pixel wide and cannot be clicked.
      if (!isShown || isLarge || width <= 1) {
        return [];
      }
      const name = element.getAttribute("aria-label") ?? element.textContent?.trim();
      return [`${element.tagName} "${name}" ${Math.round(width)}x${Math.round(height)}`];
    });
  }, pixels);
}

/** A search that is longer than a line and has no place to break. */
const oneWord = "long".repeat(60);

test("nothing is wider than the screen, and every control is at least 24 pixels large, 44 on touch screens", {
  tag: "@phone",
}, async ({ page, phone }) => {
  test.setTimeout(120_000);
  const least = phone ? 44 : 24;
  // Sizes are reserved, so the pictures themselves are not needed.
  await page.route("**/storage/v1/**", (route) => route.abort("aborted"));
  for (const address of [
    "/",
    "/?section=top",
    "/?outfit=night-bus",
    "/discovery?brand=corvane&color=camel",
    "/discovery?tab=items",
    "/auth",
    "/auth?mode=signup",
    "/look/night-bus",
    "/product/camel-overcoat",
    "/brands/98f14b3c-b854-51b4-b804-8e7298971d74",
    "/mira",
    "/terms",
    `/?q=${oneWord}`,
    `/discovery?q=${oneWord}`,
  ]) {
    await page.goto(address);
    await expect(page.getByRole("heading").first()).toBeVisible();
    await page.waitForLoadState("networkidle");
    expect(await measureOverflow(page), `sideways overflow at ${address}`).toBeLessThanOrEqual(0);
    expect(await findSmallTargets(page, least), address).toEqual([]);
  }

  await page.goto("/discovery");
  await page.getByRole("button", { name: "Filters", exact: true }).click();
  await expect(page.getByRole("button", { name: "Tarn & Tiller" })).toBeVisible();
  expect(await measureOverflow(page), "filters").toBeLessThanOrEqual(0);
  expect(await findSmallTargets(page, least), "filters").toEqual([]);
});

test("pages of signed-in people fit the screen, and their controls are large enough", {
  tag: "@phone",
}, async ({ page, person, phone }) => {
  test.setTimeout(180_000);
  await signIn(page, person.email);
  for (const address of [
    "/create-outfit",
    "/notifications",
    "/profile",
    "/profile?tab=training-images",
    "/profile?tab=outfits",
    "/profile?tab=submissions",
    "/profile?tab=edit",
    "/profile?tab=favorites",
    "/profile/edit",
    "/profile-settings",
  ]) {
    await page.goto(address);
    await expect(page.getByRole("heading", { level: 1 })).toBeVisible();
    await page.waitForLoadState("networkidle");
    expect(await measureOverflow(page), `sideways overflow at ${address}`).toBeLessThanOrEqual(0);
    expect(await findSmallTargets(page, phone ? 44 : 24), address).toEqual([]);
    expect(await findViolations(page), address).toEqual([]);
  }
});

test("the admin area has no violations in the dark", { tag: "@phone" }, async ({ page }) => {
  await page.addInitScript(() => localStorage.setItem("lookbook:appearance", "dark"));
  const admin = await signUpAdmin();
  await signIn(page, admin.email);
  for (const section of ["dashboard", "items", "combines", "settings"]) {
    await page.goto(`/admin/${section}`);
    await expect(page.getByRole("heading", { level: 1 })).toBeVisible();
    await page.waitForLoadState("networkidle");
    await expect(page.locator("html")).toHaveAttribute("data-theme", "dark");
    expect(await findViolations(page), section).toEqual([]);
  }
});

test("what stands on a control is in its name", { tag: "@once" }, async ({ page }) => {
  const admin = await signUpAdmin();
  await signIn(page, admin.email);
  for (const address of [
    "/?gender=women",
    "/?section=top",
    "/discovery?brand=corvane&color=camel",
    "/create-outfit?category=outerwear",
    "/mira",
    "/admin/items",
    "/admin/combines",
    "/admin/reports",
  ]) {
    await page.goto(address);
    await expect(page.getByRole("heading", { level: 1 })).toBeVisible();
    await page.waitForLoadState("networkidle");
    expect(await findMisnamed(page), address).toEqual([]);
  }
});
