// A retailer for the tests of the import: serves pages of products and their pictures by HTTPS on loopback; the server under
// test is configured to resolve the retailer's names to it. The path determines the page:
//
// /shopping/<gender>/<brand>--<name>-item-<number>.aspx
//
// Some names misbehave; see `misbehave`.

import { randomInt } from "node:crypto";
import { readFileSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import type { ServerResponse } from "node:http";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { generate } from "selfsigned";

const shopHost = "www.farfetch.com";
const pictureHost = "cdn-images.farfetch-contents.com";

/** Imports that one person may make within a minute on the server under test. */
export const importsPerMinute = 25;

/** A running shop. */
export interface Shop {
  /** Settings of the server under test that make it find the shop. */
  settings: Record<string, string>;
  stop(): Promise<void>;
}

/** The address of a product. The number is new, unless it is given. */
export function productAddress(
  name: string,
  { brand = "Khaite", gender = "women", number = newProductNumber() } = {},
): string {
  const slug = (text: string) => text.replaceAll(" ", "-");
  return `https://${shopHost}/shopping/${gender}/${slug(brand)}--${slug(name)}-item-${number}.aspx`;
}

/** A retailer's number that no other test uses. */
export function newProductNumber(): number {
  return 9_000_000_000 + randomInt(900_000_000);
}

export async function startShop(): Promise<Shop> {
  const certificate = await makeCertificate();
  const folder = await mkdtemp(join(tmpdir(), "selvedge-shop-"));
  const trusted = join(folder, "trusted.pem");
  await writeFile(trusted, certificate.cert);
  const server = createServer(certificate, (request, response) =>
    serve(request.url ?? "", response),
  );
  await new Promise<void>((ready) => server.listen(0, "127.0.0.1", ready));
  const address = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    settings: {
      SSL_CERT_FILE: trusted,
      SELVEDGE_IMPORT_ADDRESSES: `${shopHost}=${address},${pictureHost}=${address}`,
      SELVEDGE_IMPORT_PER_MINUTE: `${importsPerMinute}`,
    },
    stop: async () => {
      server.closeAllConnections();
      await new Promise((closed) => server.close(closed));
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** A certificate for the retailer's names, which the server under test is told to trust. */
async function makeCertificate(): Promise<{ key: string; cert: string }> {
  const made = await generate([{ name: "commonName", value: shopHost }], {
    keyType: "ec",
    curve: "P-256",
    algorithm: "sha256",
    extensions: [
      { name: "basicConstraints", cA: false },
      {
        name: "subjectAltName",
        altNames: [shopHost, pictureHost].map((value) => ({ type: 2 as const, value })),
      },
    ],
  });
  return { key: made.private, cert: made.cert };
}

const pictureFile = resolve(
  import.meta.dirname,
  "../../sql/app/seed/images/items/camel-overcoat.webp",
);
/** Longer than the server accepts for a picture. */
const hugeBytes = 50 * 1024 * 1024;

function serve(url: string, response: ServerResponse): void {
  if (url === "/picture.webp") {
    response.writeHead(200, { "content-type": "image/webp" }).end(readFileSync(pictureFile));
  } else if (url === "/no-picture.webp") {
    response.writeHead(200, { "content-type": "image/webp" }).end("<svg onload='alert(1)'/>");
  } else if (url === "/huge.webp") {
    response.writeHead(200, { "content-length": hugeBytes }).end(Buffer.alloc(hugeBytes));
  } else {
    serveProduct(url, response);
  }
}

function serveProduct(url: string, response: ServerResponse): void {
  const [, gender, brand, name] =
    /^\/shopping\/([a-z]+)\/(.+)--(.+)-item-\d+\.aspx$/.exec(decodeURIComponent(url)) ?? [];
  if (gender === undefined || brand === undefined || name === undefined) {
    response.writeHead(404).end();
  } else if (!misbehave(name, response)) {
    const page = productPage(brand.replaceAll("-", " "), name.replaceAll("-", " "));
    response.writeHead(200, { "content-type": "text/html" }).end(page);
  }
}

/** Answers products whose names promise trouble; false for all others. */
function misbehave(name: string, response: ServerResponse): boolean {
  switch (name) {
    case "blocked":
      response.writeHead(403).end("Access denied");
      return true;
    case "to-loopback":
      response.writeHead(302, { location: "https://localhost/admin" }).end();
      return true;
    case "no-product":
      response.writeHead(200).end("<title>Sold out</title><p>Gone");
      return true;
    case "endless":
      response.writeHead(200).write("<html>");
      response.on("drain", () => response.write("a".repeat(65_536)));
      response.write("a".repeat(1_000_000));
      return true;
    default:
      return false;
  }
}

function productPage(brand: string, name: string): string {
  const file = { "svg picture": "no-picture", "huge picture": "huge" }[name] ?? "picture";
  const product = {
    "@context": "https://schema.org",
    "@type": "Product",
    name,
    brand: { "@type": "Brand", name: brand },
    description: `<p>${name} in double-faced wool.</p>`,
    image: [`https://${pictureHost}/${file}.webp`],
    offers: { "@type": "Offer", price: "2490.00", priceCurrency: "USD" },
  };
  return `<!doctype html><html><head><title>${name}</title>
<script type="application/ld+json">${JSON.stringify(product)}</script></head><body></body></html>`;
}
