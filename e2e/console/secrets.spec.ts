// Secrets that the console never hands out: keys, the secret of tokens, and passwords of the database.

import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { anonKey, serviceKey } from "../support/clients.ts";
import { binary } from "../support/selvedge.ts";
import { expect, test } from "./console-test.ts";

/** Addresses that between them ask for everything that the console shows. */
const paths = [
  ...["overview", "tables", "tables/public/garments", "sql", "schema", "schema/roles"],
  ...["policies", "policies/simulator", "api", "api?table=1", "users", "users?tab=configuration"],
  ...[
    "storage",
    "logs",
    "mail",
    "settings",
    "settings?tab=doctor",
    "settings?tab=accounts",
    "audit",
  ],
];

test("console_016 no page, answer, log or storage of the browser has a secret key, the JWT secret or a password @once", async ({
  page,
  consoleServer,
}) => {
  test.slow();
  // Projects without keys of their own share those of local development.
  const { stdout } = await promisify(execFile)(binary(), ["keys"], {
    cwd: consoleServer.dataFolder,
  });
  const printed = stdout.match(/sb_secret_\S+|eyJ[\w.-]+/g) ?? [];
  const secrets = [
    ...printed.filter((key) => key !== anonKey),
    serviceKey,
    "super-secret-jwt-token-with-at-least-32-characters-long",
    `${new URL(consoleServer.databaseUrl).password}@127.0.0.1`,
  ];
  expect(printed.length).toBeGreaterThan(1);
  // At its start the server prints the keys for the developer.
  const printedAtStart = consoleServer.output().length;
  const texts: { where: string; text: string }[] = [];
  page.on("response", (response) => {
    const { pathname } = new URL(response.url());
    response.text().then(
      (text) => texts.push({ where: pathname, text }),
      // A response without a body, or of a page that has been left.
      () => undefined,
    );
  });
  // The proxied services get the service key from the server, and these requests stand in the log.
  await fetch(`${consoleServer.apiUrl}/rest/v1/garments?apikey=${serviceKey}`);
  await fetch(`${consoleServer.apiUrl}/rest/v1/nothing`, {
    headers: { apikey: serviceKey, authorization: `Bearer ${serviceKey}` },
  });

  for (const path of paths) {
    await page.goto(`/${path}`);
    await expect(page.getByRole("main")).toBeVisible();
    await expect(page.getByRole("status", { name: /^Loading/ })).toHaveCount(0);
    const kept = await page.evaluate(() => JSON.stringify([localStorage, sessionStorage]));
    texts.push({ where: `storage of ${path}`, text: kept });
    texts.push({ where: `page ${path}`, text: await page.content() });
  }

  expect(texts.length).toBeGreaterThan(60);
  texts.push({ where: "output", text: consoleServer.output().slice(printedAtStart) });
  for (const secret of secrets) {
    const found = texts.filter(({ text }) => text.includes(secret)).map(({ where }) => where);
    expect(found, secret.slice(0, 12)).toEqual([]);
  }
});
