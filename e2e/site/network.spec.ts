// How the site behaves when the network fails or the browser refuses storage.

import type { Locator } from "@playwright/test";
import { cards, expect, fillSignIn, openExplore, outfitName, test, toast } from "./journey.ts";

test("a shared link is answered with the page whoever fetches it", { tag: "@once" }, async ({
  request,
}) => {
  for (const path of ["/", "/look/night-bus", "/mira"]) {
    for (const method of ["GET", "HEAD"]) {
      const response = await request.fetch(path, { method, headers: { accept: "*/*" } });
      expect(response.status(), `${method} ${path}`).toBe(200);
      expect(response.headers()["content-type"]).toContain("text/html");
    }
  }
  const missing = await request.fetch("/missing.png", { headers: { accept: "*/*" } });
  expect(missing.status()).toBe(404);
});

test("an unreachable server is reported after 3 requests", async ({ page, pageErrors }) => {
  pageErrors.expectNetworkFailures();
  let requests = 0;
  await page.route("**/rest/v1/combines*", async (route) => {
    requests += 1;
    await route.abort("connectionrefused");
  });

  // Without a filter the outfits come with the page.
  await page.goto("/?gender=women");

  await expect(page.getByText("The outfits could not be loaded.")).toBeVisible();
  expect(requests).toBe(3);
  await page.unroute("**/rest/v1/combines*");
  await page.getByRole("button", { name: "Try again" }).click();
  await expect(cards(page).first()).toBeVisible();
});

/** Names of the links, buttons and fields that lie below an element. */
function controlsBelow(element: Locator): Promise<string[]> {
  return element.evaluate((shown) => {
    const a = shown.getBoundingClientRect();
    return [...document.querySelectorAll<HTMLElement>("a, button, input")].flatMap((control) => {
      const b = control.getBoundingClientRect();
      const isApart =
        b.right <= a.left || b.left >= a.right || b.bottom <= a.top || b.top >= a.bottom;
      // What is scrolled below it can be scrolled away.
      return isApart || control.closest("main") !== null ? [] : [control.outerHTML];
    });
  });
}

test("a lost network shows a banner over no control, and a list that never loaded says why", {
  tag: "@phone",
}, async ({ page, context, pageErrors }) => {
  pageErrors.expectNetworkFailures();
  await openExplore(page);
  const banner = page.getByText("You are offline. What you see may be out of date.");

  await context.setOffline(true);
  await expect(banner).toBeVisible();
  expect(await controlsBelow(banner.locator(".."))).toEqual([]);
  await page.evaluate(() => {
    history.pushState(null, "", "/?gender=men");
    dispatchEvent(new PopStateEvent("popstate"));
  });
  await expect(page.getByText("You are offline. It will be loaded")).toBeVisible();

  await context.setOffline(false);
  await expect(banner).toBeHidden();
  await expect(cards(page).first()).toBeVisible();
});

test("what is done without a network fails at once, and is not done later", {
  tag: "@phone",
}, async ({ page, context, person, phone, pageErrors }) => {
  pageErrors.expectNetworkFailures();
  // By the form, whose greeting loads the code of toasts.
  await page.goto("/auth");
  await fillSignIn(page, person.email);
  await expect(toast(page, "Welcome back!")).toBeVisible();
  const card = cards(page).first();
  const name = await outfitName(card);
  const like = card.getByRole("button", { name: `Like ${name}` });
  await expect(like).toBeEnabled();

  await context.setOffline(true);
  if (!phone) {
    await card.hover();
  }
  await like.click();
  await expect(toast(page, "You are offline. Nothing was changed")).toBeVisible();
  await expect(like).toBeVisible();
  // A menu whose code is not there says so, and the page stays.
  await page.getByRole("button", { name: "Appearance" }).first().click();
  await expect(toast(page, "The menu could not be loaded")).toContainText("You are offline.");
  await expect(cards(page).first()).toBeVisible();
  await context.setOffline(false);

  await page.getByRole("button", { name: "Appearance" }).first().click();
  await expect(page.getByText("By page")).toBeVisible();
  await page.keyboard.press("Escape");
  expect(
    (await person.client.from("likes").select("combine_id").eq("user_id", person.id)).data,
  ).toEqual([]);
  if (!phone) {
    await card.hover();
  }
  await like.click();
  await expect(toast(page, "Liked!")).toBeVisible();
});

test("the site works when the browser refuses localStorage", { tag: "@once" }, async ({ page }) => {
  await page.addInitScript(() => {
    const refuse = {
      get: () => {
        throw new DOMException("refused", "SecurityError");
      },
    };
    Object.defineProperty(window, "localStorage", refuse);
    Object.defineProperty(window, "sessionStorage", refuse);
  });

  await openExplore(page);
  await page.getByRole("button", { name: "Collapse sidebar" }).click();
  await expect(page.getByRole("button", { name: "Expand sidebar" })).toBeVisible();
  await page.goto("/auth");
  await expect(page.getByRole("heading", { name: "Sign In" })).toBeVisible();
});

test("the slideshow of the sign-in page loads no pictures on phones", { tag: "@phone" }, async ({
  page,
  phone,
}) => {
  let pictures = 0;
  page.on("request", (request) => {
    if (request.url().includes("/storage/v1/")) {
      pictures += 1;
    }
  });

  await page.goto("/auth");
  await expect(page.getByRole("heading", { name: "Sign In" })).toBeVisible();
  if (phone) {
    await page.waitForLoadState("networkidle");
    expect(pictures).toBe(0);
  } else {
    await expect.poll(() => pictures).toBeGreaterThan(0);
  }
});
