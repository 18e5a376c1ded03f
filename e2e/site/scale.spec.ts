// A catalogue of 5 000 outfits and 5 000 items: the rendered and cached rows stay bounded however far a person scrolls. Uses
// a separate server, because the other tests expect the seed.

import { type ElementHandle, expect, type Page, test } from "@playwright/test";
import {
  createClient,
  type SupabaseClient,
  type WebSocketLikeConstructor,
} from "@supabase/supabase-js";
import WebSocket from "ws";
import { localKey } from "../support/clients.ts";
import { type Selvedge, startSelvedge } from "../support/selvedge.ts";
import { fillSignIn } from "./journey.ts";

const rowCount = 5000;
/** Rows of one statement: of more a busy machine cannot insert in the time that a statement has. */
const batchSize = 200;
const pageSize = 24;
const pagesRead = 40;
/** Milliseconds of processor time in the page that one more page of items may cost. */
const mostPerPage = 50;

let server: Selvedge;

test.beforeAll(async () => {
  test.setTimeout(180_000);
  server = await startSelvedge("sql/app");
  const owner = createClient(server.apiUrl, localKey("service_role"), {
    auth: { persistSession: false },
    realtime: { transport: WebSocket as unknown as WebSocketLikeConstructor },
  });
  const outfits = await owner
    .from("combines")
    .select("user_id, main_image, gender, item_ids, outfit_styles, colors, status")
    .eq("status", "approved");
  await insertCopies(owner, "combines", "Outfit", outfits.data ?? []);
  const items = await owner
    .from("items")
    .select("image, price, brand_id, category, subcategory_id, gender, colors");
  await insertCopies(owner, "items", "Garment", items.data ?? []);
});

/** Inserts copies of these rows, each with a number in its name. */
async function insertCopies(
  owner: SupabaseClient,
  table: string,
  noun: string,
  templates: Record<string, unknown>[],
): Promise<void> {
  const now = Date.now();
  for (let start = 0; start < rowCount; start += batchSize) {
    const rows = Array.from({ length: batchSize }, (_, offset) => ({
      ...templates[(start + offset) % templates.length],
      name: `${noun} number ${start + offset}`,
      created_at: new Date(now - (start + offset) * 1000).toISOString(),
    }));
    const { error } = await owner.from(table).insert(rows);
    if (error) {
      throw new Error(error.message);
    }
  }
}

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

/**
 * Reads how many milliseconds of processor time scripts, styles and layout have taken. A busy machine does not change it much, unlike a
 * clock's time. Painting is left out, because a browser without a graphics card does it on the processor.
 */
async function measureProcessor(page: Page): Promise<() => Promise<number>> {
  const session = await page.context().newCDPSession(page);
  await session.send("Performance.enable", { timeDomain: "threadTicks" });
  const counted = ["ScriptDuration", "LayoutDuration", "RecalcStyleDuration"];
  return async () => {
    const { metrics } = await session.send("Performance.getMetrics");
    const seconds = metrics.filter(({ name }) => counted.includes(name)).map(({ value }) => value);
    return 1000 * seconds.reduce((sum, value) => sum + value, 0);
  };
}

/** Scrolls the area of a list to its end, and returns the position of the last item that is rendered. */
function scrollToEnd(list: ElementHandle<HTMLElement | SVGElement>): Promise<number> {
  return list.evaluate((items) => {
    items.parentElement?.scrollTo(0, items.parentElement.scrollHeight);
    return Math.max(...[...items.children].map((item) => Number(item.ariaPosInSet)));
  });
}

test("the wizard shows thousands of items with few elements, and keeps what is chosen and focused", {
  tag: "@once",
}, async ({ page }) => {
  test.setTimeout(180_000);
  await page.route("**/storage/v1/**", (route) => route.abort());
  await page.goto(`${server.apiUrl}/create-outfit`);
  await fillSignIn(page, "mira@lookbook.test");
  const list = page.getByRole("list", { name: "Available items" });
  await list.getByRole("button", { name: "Add Garment number 0", exact: true }).click();

  // Playwright's search by role would be a third of what is measured, so the list is found once.
  const element = await list.elementHandle();
  if (element === null) {
    throw new Error("The list of items is gone.");
  }
  const readProcessor = await measureProcessor(page);
  const before = await readProcessor();
  // Items are fetched on the way down, so the end of the list moves away again and again.
  await expect
    .poll(() => scrollToEnd(element), { timeout: 120_000, intervals: [20] })
    .toBeGreaterThan(pagesRead * pageSize);
  const perPage = ((await readProcessor()) - before) / pagesRead;
  console.info(`wizard: ${perPage.toFixed(1)} ms of processor time per page of items`);

  expect(perPage).toBeLessThan(mostPerPage);
  expect(await page.evaluate(() => document.querySelectorAll("*").length)).toBeLessThan(1500);
  await expect(page.getByRole("list", { name: "Selected items" })).toContainText(
    "Garment number 0",
  );
  // The focused item is far above and still rendered, so the next key moves from it.
  await expect(
    list.getByRole("button", { name: "Added Garment number 0, remove it" }),
  ).toBeFocused();
});
