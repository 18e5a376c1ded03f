// The function fetch-farfetch by the stock client: who may import, what comes back, and pages that attack the server.

import type { FunctionsHttpError, SupabaseClient } from "@supabase/supabase-js";
import { beforeAll, describe, expect, test } from "vitest";
import { apiUrl } from "../support/address.ts";
import { expectData, makeItem, uniqueName } from "../support/catalogue.ts";
import {
  anonKey,
  owner,
  type Person,
  serviceKey,
  signUp,
  signUpAdmin,
  visitor,
} from "../support/clients.ts";
import { storedFiles } from "../support/files.ts";
import { importsPerMinute, newProductNumber, productAddress } from "../support/shop.ts";

let admin: Person;

beforeAll(async () => {
  admin = await signUpAdmin();
});

interface Imported {
  name: string;
  image: string;
  brandId: string | null;
  [field: string]: unknown;
}

async function importProduct(client: SupabaseClient, url: string): Promise<Imported> {
  const { data, error } = await client.functions.invoke<Imported>("fetch-farfetch", {
    body: { url },
  });
  if (error) throw error;
  if (data === null) throw new Error("no product");
  return data;
}

/** Status and body of a refused import. */
async function refusal(
  client: SupabaseClient,
  url: string,
): Promise<{ status: number; error?: string; itemId?: string }> {
  const { error } = await client.functions.invoke("fetch-farfetch", { body: { url } });
  const response = (error as FunctionsHttpError | null)?.context as Response | undefined;
  if (response === undefined) throw new Error("the import was not refused");
  return { status: response.status, ...(await response.json()) };
}

describe("fetch-farfetch", () => {
  test("answers a product, whose picture is a JPEG in the bucket", async () => {
    const number = newProductNumber();
    const brand = uniqueName("Brand");
    const address = productAddress("Wool coat", { brand, number });
    const made = expectData(
      await owner().from("brands").insert({ name: brand.toUpperCase() }).select("id").single(),
    );

    const product = await importProduct(admin.client, `${address}?storeid=12#details`);

    expect(product).toEqual({
      name: "Wool coat",
      brand,
      description: "Wool coat in double-faced wool.",
      price: 2490,
      currency: "USD",
      image: expect.stringMatching(
        /^\/storage\/v1\/object\/public\/images\/items\/[0-9a-f-]{36}\.jpg$/,
      ),
      productId: number,
      gender: "women",
      sourceUrl: address,
      brandId: made.id,
    });
    const picture = await fetch(`${apiUrl()}${product.image}`);
    expect([picture.status, picture.headers.get("content-type")]).toEqual([200, "image/jpeg"]);
    expect([...new Uint8Array(await picture.arrayBuffer()).slice(0, 3)]).toEqual([255, 216, 255]);
  });

  test("answers an unknown brand without an id", async () => {
    const brand = uniqueName("Nobody");

    const product = await importProduct(admin.client, productAddress("Shirt", { brand }));

    expect(product).toMatchObject({ brand, brandId: null });
  });

  test("refuses a product that is there by its number or its address", async () => {
    const [byNumber, byAddress] = [await makeItem(), await makeItem()];
    const number = newProductNumber();
    const address = productAddress("Boots");
    const items = owner().from("items");
    expectData(await items.update({ product_id: number }).eq("id", byNumber.id).select());
    const source_url = `${address}?utm_source=mail`;
    expectData(await owner().from("items").update({ source_url }).eq("id", byAddress.id).select());

    const known = { status: 409, error: "Product already exists" };
    expect(await refusal(admin.client, productAddress("Boots", { number }))).toEqual({
      ...known,
      itemId: byNumber.id,
    });
    expect(await refusal(admin.client, address)).toEqual({ ...known, itemId: byAddress.id });
  });

  test("is for administrators alone, and stores nothing for others", async () => {
    const user = await signUp();
    const demoted = await signUpAdmin();
    expectData(
      await owner().from("profiles").update({ role: "user" }).eq("id", demoted.id).select(),
    );
    const before = await storedFiles("images", "items");

    for (const client of [user.client, demoted.client, visitor(), owner()]) {
      for (const url of [productAddress("Coat"), "no address"]) {
        expect(await refusal(client, url)).toEqual({
          status: 403,
          error: "Only an administrator may do this.",
        });
      }
    }
    const call = (headers: Record<string, string>) =>
      fetch(`${apiUrl()}/functions/v1/fetch-farfetch`, { method: "POST", headers, body: "{}" });
    expect((await call({})).status).toBe(401);
    expect((await call({ authorization: "Bearer forged" })).status).toBe(401);
    for (const key of [anonKey, serviceKey]) {
      expect((await call({ apikey: key, authorization: `Bearer ${key}` })).status).toBe(403);
    }
    expect(await storedFiles("images", "items")).toEqual(before);
  });

  test.each([
    ["no address", 400, "Please enter a valid Farfetch product URL"],
    ["https://127.0.0.1/a-item-1.aspx", 400, "Please enter a valid Farfetch product URL"],
    ["https://www.farfetch.com/shopping/women", 400, "Please enter a valid Farfetch product URL"],
    [productAddress("blocked"), 502, "www.farfetch.com responded with status 403"],
    [
      productAddress("to-loopback"),
      502,
      "The page leads to localhost, which is not a host of this retailer",
    ],
    [productAddress("no-product"), 422, "Missing essential product data (name or image)"],
    [productAddress("endless"), 502, "The response of www.farfetch.com is too large"],
    [productAddress("svg picture"), 422, "The picture of the product cannot be read"],
    [
      productAddress("huge picture"),
      502,
      "The response of cdn-images.farfetch-contents.com is too large",
    ],
  ])("refuses %s", async (url, status, error) => {
    expect(await refusal(admin.client, url)).toEqual({ status, error });
  });

  test("limits how often one person imports", async () => {
    const busy = await signUpAdmin();
    for (let count = 0; count < importsPerMinute; count += 1) {
      expect(await refusal(busy.client, productAddress("blocked"))).toMatchObject({
        status: 502,
      });
    }

    const { error } = await busy.client.functions.invoke("fetch-farfetch", {
      body: { url: productAddress("Coat") },
    });

    const response = (error as FunctionsHttpError).context as Response;
    expect(response.status).toBe(429);
    expect(Number(response.headers.get("retry-after"))).toBeGreaterThan(0);
  });
});
