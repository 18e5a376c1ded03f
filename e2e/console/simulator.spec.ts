// The simulator's answers: allowed, cut off by a limit, denied, failed, refused; each in both lights.

import { findViolations } from "../site/measure.ts";
import { anonKey } from "../support/clients.ts";
import { expect, test } from "./console-test.ts";

/** A request, what the page says about it, and what its steps say. */
const cases = [
  { path: "measurements?order=id&limit=2", says: "2 rows as anon", step: /With limit 2, 2 of the/ },
  { path: "garments?select=id", says: "0 rows as anon", step: "No policy applies to anon." },
  { path: "garments?nothing=eq.1", says: "The simulation failed", step: /nothing/ },
  { path: "rpc/anything", says: "The simulation failed", step: /not calls of functions/ },
];

for (const colorScheme of ["light", "dark"] as const) {
  test(`console_080 console_181 answers and faults of the simulator say what decides, in ${colorScheme}`, async ({
    page,
    pageErrors,
  }) => {
    test.slow();
    pageErrors.expectStatusOfAny(422, "/api/simulate");
    pageErrors.expectStatusOfAny(400, "/api/simulate");
    await page.emulateMedia({ colorScheme });
    await page.goto("/policies/simulator");
    await expect(page.getByText("Ask who sees which row, and why")).toBeVisible();
    expect(await findViolations(page), "nothing asked").toEqual([]);
    for (const { path, says, step } of cases) {
      await page.getByLabel("Path and query").fill(`/rest/v1/${path}`);
      await page.getByRole("button", { name: /^Simulate(?! as)/ }).click();
      await expect(page.getByText(says)).toBeVisible();
      await expect(page.getByText(step).first()).toBeVisible();
      expect(await findViolations(page), path).toEqual([]);
    }
  });
}

test("console_080 a request of the log that came back empty is explained by its offset @once", async ({
  page,
  consoleServer,
}) => {
  const response = await fetch(
    `${consoleServer.apiUrl}/rest/v1/measurements?id=lte.10&limit=5&offset=10`,
    { headers: { apikey: anonKey } },
  );
  expect(await response.json()).toEqual([]);

  await page.goto("/policies/simulator");
  await page.getByLabel("Path and query").fill("/rest/v1/measurements?id=lte.10&limit=5&offset=10");
  await page.getByRole("button", { name: /^Simulate(?! as)/ }).click();

  await expect(
    page.getByText("With limit 5 and offset 10, none of the 10 allowed rows is returned."),
  ).toBeVisible();
  await expect(page.getByText("explanation and real result agree")).toBeVisible();
});
