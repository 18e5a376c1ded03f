// The head of pages as crawlers and messengers get it: without running a script.

import { randomUUID } from "node:crypto";
import { readFile, writeFile } from "node:fs/promises";
import { expectData, makeOutfit } from "../support/catalogue.ts";
import { owner } from "../support/clients.ts";
import { expect, test } from "./journey.ts";

/** Repeats what a busy machine may refuse, until it passes; returns its result. */
async function eventually<Result>(attempt: () => Promise<Result>): Promise<Result> {
  const results: Result[] = [];
  await expect(async () => {
    results.push(await attempt());
  }).toPass();
  return results.at(-1) as Result;
}

test.describe("the server writes the head of a page", { tag: "@once" }, () => {
  test("with a card that shows the whole outfit, its name and its creator", async ({ request }) => {
    for (const path of ["/", "/look/night-bus", "/product/camel-overcoat", "/mira", "/discovery"]) {
      // A page whose function takes longer than 200 ms is sent as it was built, and its card is not there.
      const card = await eventually(async () => {
        const page = await (await request.get(path)).text();
        const address = /property="og:image" content="([^"]+)"/.exec(page)?.[1];
        expect(address, path).toContain("/assets/cards/");
        expect(page).toContain('<meta property="og:image:width" content="1200">');
        const found = await request.get((address ?? "").replaceAll("&amp;", "&"));
        expect(found.status(), path).toBe(200);
        return found;
      });
      expect(card.headers()).toMatchObject({
        "content-type": "image/jpeg",
        "cache-control": "public, max-age=31536000, immutable",
        "x-content-type-options": "nosniff",
      });
      const name = path === "/" ? "home" : path.slice(1).replaceAll("/", "-");
      await writeFile(`artifacts/card-${name}.jpg`, await card.body());
      // Small enough for messengers, and more than an empty card.
      expect((await card.body()).length).toBeGreaterThan(15_000);
      expect((await card.body()).length).toBeLessThan(300_000);
    }
    // An older link shows the present card, and one to a page that is not public shows none.
    await eventually(async () => {
      const page = await (await request.get("/look/night-bus")).text();
      expect(page).toMatch(/<meta property="og:image:alt" content="Night Bus, by [^"]+">/);
      const older = await request.get("/assets/cards/older.jpg?page=/look/night-bus");
      expect(older.headers()["cache-control"]).toBe("public, max-age=60");
    });
    for (const other of ["/look/no-such-outfit", "/auth", "/robots.txt"]) {
      const card = await request.get(`/assets/cards/x.jpg?page=${encodeURIComponent(other)}`);
      expect(card.status(), other).toBe(404);
    }
  });

  test("with a card that is kept once its picture is there", async ({ request, person }) => {
    const outfit = await makeOutfit(person, "approved");
    const file = `late-${randomUUID()}.webp`;
    const change = { main_image: `/storage/v1/object/public/combine-images/${file}` };
    expectData(await owner().from("combines").update(change).eq("id", outfit.id).select("id"));
    const ask = () =>
      eventually(async () => {
        const page = await (await request.get(`/look/${outfit.id}`)).text();
        const address = /property="og:image" content="([^"]+)"/.exec(page)?.[1] ?? "";
        const card = await request.get(address.replaceAll("&amp;", "&"));
        expect(card.status()).toBe(200);
        return card;
      });

    const without = await ask();
    expect(without.headers()["cache-control"]).toBe("public, max-age=60");
    const picture = await readFile("../sql/app/seed/combine-images/night-bus.webp");
    const options = { contentType: "image/webp" };
    const stored = await owner().storage.from("combine-images").upload(file, picture, options);
    expect(stored.error).toBeNull();
    const whole = await ask();
    expect(whole.headers()["cache-control"]).toContain("immutable");
    expect((await whole.body()).equals(await without.body())).toBe(false);
  });

  test("with the picture in place of a card whose name could not be written", async ({
    request,
    person,
  }) => {
    const outfit = await makeOutfit(person, "approved");
    const image = "/storage/v1/object/public/combine-images/night-bus.webp";
    const change = { name: "Осеннее пальто", main_image: image };
    expectData(await owner().from("combines").update(change).eq("id", outfit.id).select("id"));

    await eventually(async () => {
      const page = await (await request.get(`/look/${outfit.id}`)).text();
      expect(page).toMatch(/property="og:image" content="http[^"]+night-bus\.webp/);
    });
  });

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
    expect(picture).toMatch(/^http.*\/assets\/cards\/[0-9a-f]+\.jpg\?page=%2Flook%2Fnight-bus$/);
    const rendered = await request.get(picture ?? "");
    expect(rendered.status()).toBe(200);
    expect(rendered.headers()["content-type"]).toBe("image/jpeg");
  });

  test("with title, description and picture of an item and of its brand", async ({ request }) => {
    const item = await (await request.get("/product/camel-overcoat")).text();
    expect(item).toContain("<title>Camel Overcoat by Sellino Vetri · Lookbook</title>");
    expect(item).toContain('<meta property="og:type" content="product">');
    expect(item).toMatch(/property="og:image" content="http[^"]+page=%2Fproduct%2Fcamel-overcoat"/);
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
      await eventually(async () => expect((await request.get(path)).status(), path).toBe(404));
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
      const card = `/assets/cards/x.jpg?page=/look/${outfit.id}`;
      expect((await request.get(card)).status(), status).toBe(404);
    }
  });

  test("and writes robots.txt and sitemap.xml", async ({ request }) => {
    await eventually(async () => {
      const robots = await request.get("/robots.txt");
      expect(robots.headers()["content-type"]).toContain("text/plain");
      expect(await robots.text()).toContain("/sitemap.xml");
    });
    const sitemap = await eventually(async () => {
      const found = await request.get("/sitemap.xml");
      expect(found.headers()["content-type"]).toContain("xml");
      return found;
    });
    const pages = await sitemap.text();
    for (const page of ["/look/night-bus", "/product/camel-overcoat", "/mira"]) {
      expect(pages).toContain(`${page}</loc>`);
    }
    expect(pages).toMatch(/\/brands\/[0-9a-f-]{36}<\/loc>/);
  });
});
