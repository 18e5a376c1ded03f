// The head of pages as crawlers and messengers get it: without running a script.

import { makeOutfit } from "../support/catalogue.ts";
import { expect, test } from "./journey.ts";

test.describe("the server writes the head of a page", { tag: "@once" }, () => {
  test("with title, description, address and picture of an outfit", async ({ request }) => {
    const response = await request.get("/look/night-bus");
    const page = await response.text();

    expect(response.status()).toBe(200);
    expect(page).toContain("<title>Night Bus · Lookbook</title>");
    expect(page).toContain('<meta property="og:title" content="Night Bus · Lookbook">');
    expect(page).toContain('<meta property="og:type" content="article">');
    expect(page.match(/<meta\s+name="description"/g)).toHaveLength(1);
    const picture = /property="og:image" content="([^"]+)"/
      .exec(page)?.[1]
      ?.replaceAll("&amp;", "&");
    expect(picture).toMatch(/^http.*width=1200&height=630/);
    const rendered = await request.get(picture ?? "");
    expect(rendered.status()).toBe(200);
    expect(rendered.headers()["content-type"]).toBe("image/jpeg");
  });

  test("with title, description and picture of an item and of its brand", async ({ request }) => {
    const item = await (await request.get("/product/camel-overcoat")).text();
    expect(item).toContain("<title>Camel Overcoat by Sellino Vetri · Lookbook</title>");
    expect(item).toContain('<meta property="og:type" content="product">');
    expect(item).toMatch(
      /property="og:image" content="http[^"]+camel-overcoat\.webp[^"]+format=jpeg"/,
    );
    const id = /"brand": ?\{"id": ?"([0-9a-f-]{36})"/.exec(item)?.[1];

    const brand = await (await request.get(`/brands/${id}`)).text();

    expect(brand).toContain("<title>Sellino Vetri · Lookbook</title>");
    expect(brand).toContain('<meta name="description" content="Soft tailoring');
  });

  test("with status 404 for outfits, users and paths that do not exist", async ({ request }) => {
    for (const path of [
      "/look/no-such-outfit",
      "/product/no-such-item",
      "/brands/no-id",
      "/brands/00000000-0000-4000-8000-000000000000",
      "/no_such_user",
      "/no/such/page",
      "/look",
    ]) {
      expect((await request.get(path)).status(), path).toBe(404);
    }
    for (const path of [
      "/",
      "/auth",
      "/mira",
      "/MIRA",
      "/look/night-bus",
      "/create-outfit",
      "/notifications",
      "/profile",
      "/profile/edit",
      "/profile-settings",
    ]) {
      expect((await request.get(path)).status(), path).toBe(200);
    }
  });

  test("never with an outfit that is not approved", async ({ request, person }) => {
    for (const status of ["pending", "rejected"]) {
      const outfit = await makeOutfit(person, status);
      const response = await request.get(`/look/${outfit.id}`);
      expect(response.status(), status).toBe(404);
      expect(await response.text()).not.toContain(outfit.name);
    }
  });

  test("and writes robots.txt and sitemap.xml", async ({ request }) => {
    const robots = await request.get("/robots.txt");
    expect(robots.headers()["content-type"]).toContain("text/plain");
    expect(await robots.text()).toContain("/sitemap.xml");
    const sitemap = await request.get("/sitemap.xml");
    expect(sitemap.headers()["content-type"]).toContain("xml");
    const pages = await sitemap.text();
    for (const page of ["/look/night-bus", "/product/camel-overcoat", "/mira"]) {
      expect(pages).toContain(`${page}</loc>`);
    }
    expect(pages).toMatch(/\/brands\/[0-9a-f-]{36}<\/loc>/);
  });
});
