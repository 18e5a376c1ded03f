// A catalogue of 5 000 outfits: what is rendered and kept stays bounded however far somebody scrolls. Uses a server
// of its own, because the other tests expect the seed.

import { expect, test } from "@playwright/test";
import { createClient, type WebSocketLikeConstructor } from "@supabase/supabase-js";
import WebSocket from "ws";
import { localKey } from "../support/clients.ts";
import { type Selvedge, startSelvedge } from "../support/selvedge.ts";

const outfitCount = 5000;
const pageSize = 24;
const pagesRead = 40;

let server: Selvedge;

test.beforeAll(async () => {
  test.setTimeout(180_000);
  server = await startSelvedge("sql/app");
  const owner = createClient(server.apiUrl, localKey("service_role"), {
    auth: { persistSession: false },
    realtime: { transport: WebSocket as unknown as WebSocketLikeConstructor },
  });
  const seed = await owner
    .from("combines")
    .select("user_id, main_image, gender, item_ids, outfit_styles, colors")
    .eq("status", "approved");
  const templates = seed.data ?? [];
  const now = Date.now();
  for (let start = 0; start < outfitCount; start += 1000) {
    const rows = Array.from({ length: 1000 }, (_, offset) => ({
      ...templates[(start + offset) % templates.length],
      name: `Outfit number ${start + offset}`,
      status: "approved",
      created_at: new Date(now - (start + offset) * 1000).toISOString(),
    }));
    const { error } = await owner.from("combines").insert(rows);
    if (error) {
      throw new Error(error.message);
    }
  }
});

test.afterAll(() => server?.stop());

test("40 pages of outfits stay below 3 000 DOM nodes, and the modal keeps the place", {
  tag: "@once",
}, async ({ page }) => {
  test.setTimeout(180_000);
  let pages = 0;
  page.on("response", (response) => {
    if (response.url().includes("/rest/v1/combines?")) {
      pages += 1;
    }
  });
  // Pictures are left out, because this test measures the page's own elements.
  await page.route("**/storage/v1/**", (route) => route.abort());
  await page.goto(server.apiUrl);
  await expect(page.getByRole("article").first()).toBeVisible();

  while (pages < pagesRead) {
    const before = pages;
    // Again and again, because a response is counted before its rows are rendered: the end of the list then moves away.
    await expect
      .poll(
        async () => {
          await page.evaluate(() => window.scrollTo(0, document.documentElement.scrollHeight));
          return pages;
        },
        { intervals: [20] },
      )
      .toBeGreaterThan(before);
  }

  const list = page.getByRole("list", { name: "Explore Outfits" });
  await expect
    .poll(() => list.locator("> li").first().getAttribute("aria-setsize").then(Number))
    .toBeGreaterThanOrEqual(pagesRead * pageSize);
  expect(await page.evaluate(() => document.querySelectorAll("*").length)).toBeLessThan(3000);

  // By id, because the position in the DOM changes with every scroll.
  const id = await page.evaluate(() => {
    const links = [...document.querySelectorAll("article a")];
    return links.find((link) => link.getBoundingClientRect().top > 100)?.id;
  });
  await page.locator(`#${id}`).scrollIntoViewIfNeeded();
  const place = await page.evaluate(() => window.scrollY);
  await page.locator(`#${id}`).click();
  await expect(page.getByRole("dialog")).toBeVisible();
  await page.keyboard.press("Escape");
  await expect(page.getByRole("dialog")).toBeHidden();
  await expect(page.locator(`#${id}`)).toBeFocused();
  expect(Math.abs((await page.evaluate(() => window.scrollY)) - place)).toBeLessThan(2);

  // Far away from the opened card, the card of the outfit shown last is rendered and focused.
  await page.locator(`#${id}`).click();
  for (let step = 0; step < 40; step += 1) {
    await page.keyboard.press("ArrowLeft");
  }
  await page.keyboard.press("Escape");
  await expect(page.getByRole("dialog")).toBeHidden();
  await expect(page.locator("article a:focus")).toHaveCount(1);
  await expect(page.locator("article a:focus")).toBeInViewport();
});
