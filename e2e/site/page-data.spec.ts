// Data that the server sends with a page, so that the browser needs no request: the first rows, and preloads of the first
// pictures.

import type { Page } from "@playwright/test";
import { test } from "./fresh-server.ts";
import { expect } from "./journey.ts";

const paths = ["/", "/look/camel-hour", "/product/camel-overcoat", "/mira"];
const dataElement = /<script type="application\/json" id="page-data">(.*?)<\/script>/s;

/** Waits until the page shows its subject. */
async function waitForPage(page: Page): Promise<void> {
  await expect(page.getByRole("heading", { level: 1 })).toBeVisible();
  await page.waitForLoadState("networkidle");
}

interface Row {
  id: string;
}

/** Rows in the order of their ids: what counts is which rows and columns there are. */
function sortedById(rows: Row[]): Row[] {
  return rows.toSorted((a, b) => a.id.localeCompare(b.id));
}

for (const path of paths) {
  test(`the rows inlined at ${path} are those that the site asks for`, { tag: "@once" }, async ({
    page,
    request,
  }) => {
    const html = await (await request.get(path)).text();
    const inlined: Record<string, Row | Row[]> = JSON.parse(dataElement.exec(html)?.[1] ?? "{}");
    const answers: Row[][] = [];
    page.on("response", async (response) => {
      if (response.url().includes("/rest/v1/")) {
        const body: Row | Row[] = await response.json();
        answers.push(sortedById(Array.isArray(body) ? body : [body]));
      }
    });

    // The same page without the data: the site has to send requests.
    await page.route(path, (route) =>
      route.fulfill({ contentType: "text/html", body: html.replace(dataElement, "") }),
    );
    // Chromium lets a page that does not come from the network open no socket to this machine, and reports it as an error.
    await page.routeWebSocket(/\/realtime\//, () => undefined);
    await page.goto(path);
    await waitForPage(page);

    expect(Object.keys(inlined).length).toBeGreaterThan(0);
    for (const [name, rows] of Object.entries(inlined)) {
      const expected = sortedById(Array.isArray(rows) ? rows : [rows]);
      // Every page has the names of styles and colors; not every page shows both.
      if (name === "outfit_styles" || name === "colors") continue;
      await expect.poll(() => answers, name).toContainEqual(expected);
    }
  });

  test(`the first view of ${path} needs no request for its rows`, async ({ page }) => {
    const asked: string[] = [];
    page.on("request", (request) => {
      const url = new URL(request.url());
      if (url.pathname.startsWith("/rest/v1/")) {
        asked.push(url.pathname.replace("/rest/v1/", ""));
      }
    });
    await page.goto(path);
    await waitForPage(page);

    // Links to further pages are below the first view and may be fetched later; the page's subject must come with the
    // page.
    const subjects = [
      "outfit_styles",
      "colors",
      "rpc/profile_by_username",
      "rpc/outfits_with_item",
    ];
    expect(asked.filter((table) => subjects.includes(table))).toEqual([]);
    if (path === "/") {
      expect(asked).toEqual([]);
    }
  });

  test(`pictures preloaded at ${path} are the ones shown`, { tag: "@phone" }, async ({ page }) => {
    await page.goto(path);
    await waitForPage(page);

    const [preloaded, shown] = await page.evaluate(() => {
      const links = document.querySelectorAll<HTMLLinkElement>('link[rel="preload"][as="image"]');
      return [
        [...links].map((link) => `${link.imageSrcset} | ${link.imageSizes}`),
        [...document.images].map((image) => `${image.srcset} | ${image.sizes}`),
      ];
    });

    expect(preloaded.length).toBeGreaterThan(0);
    // Another candidate list or other sizes would load the picture twice.
    expect(preloaded.filter((picture) => !shown.includes(picture))).toEqual([]);
  });
}

test("12 pictures of the grid cost at most 320 kB in the width that sharp screens load", {
  tag: "@once",
}, async ({ request }) => {
  test.setTimeout(120_000);
  const html = await (await request.get("/")).text();
  const { newest_outfits: outfits } = JSON.parse(dataElement.exec(html)?.[1] ?? "{}") as {
    newest_outfits: { main_image: string }[];
  };
  const headers = { accept: "image/avif,image/webp,image/*,*/*;q=0.8" };
  let bytes = 0;
  for (const { main_image } of outfits.slice(0, 12)) {
    const picture = main_image.replace("/object/", "/render/image/");
    // Laptops at 2x and phones at 3x choose 720 of the candidates.
    const response = await request.get(`${picture}?width=720`, { headers });
    expect(response.status(), picture).toBe(200);
    bytes += (await response.body()).length;
  }

  expect(bytes).toBeGreaterThan(12_000);
  expect(bytes).toBeLessThanOrEqual(320_000);
});
