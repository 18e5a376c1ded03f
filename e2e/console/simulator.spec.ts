// The simulator's answers: allowed, cut off by a limit, denied, failed, refused; each in both lights.

import { findViolations } from "../site/measure.ts";
import { anonKey } from "../support/clients.ts";
import { expect, findOid, rest, test } from "./console-test.ts";

/** A request, what the page says about it, and what its steps say. */
const cases = [
  { path: "measurements?order=id&limit=2", says: "2 rows as anon", step: /With limit 2, 2 of the/ },
  { path: "garments?select=id", says: "0 rows as anon", step: "No policy applies to anon." },
  { path: "garments?nothing=eq.1", says: "The simulation failed", step: /nothing/ },
  { path: "rpc/anything", says: "The simulation failed", step: /not calls of functions/ },
];

for (const colorScheme of ["light", "dark"] as const) {
  test(`console_080 console_181 answers and faults of the simulator say what decides, in ${colorScheme}`, {
    tag: "@phone",
  }, async ({ page, pageErrors }) => {
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

test("console_084 an unsaved policy shows the rows that appear and vanish, and is not saved", {
  tag: "@phone",
}, async ({ page, consoleServer, phone }) => {
  const address = `/policies/${await findOid(consoleServer, "shelves")}`;
  await page.goto(address);
  const saved = page.getByRole("list", { name: "Policies" }).getByRole("listitem");
  await expect(saved).toHaveCount(1);
  await page.getByRole("button", { name: "New policy" }).click();
  await page.getByRole("menuitem", { name: /^Everyone can read/ }).click();
  const form = page.getByRole("region", { name: "Policies of the table" });
  const simulator = page.getByRole("region", { name: "Simulator" });
  const simulate = async (kind: string, using: string) => {
    await form.getByLabel("Kind").selectOption(kind);
    const condition = form.getByRole("textbox", { name: "Using" });
    await condition.press("Control+a");
    await condition.press("Delete");
    await condition.fill(using);
    // Where both have no room side by side, a button goes from the form to the simulator.
    if (phone) await form.getByRole("button", { name: "Simulate it" }).click();
    await simulator.getByRole("button", { name: /^Simulate(?! as)/ }).click();
  };

  await simulate("permissive", "id % 2 = 0");
  const change = simulator.getByText(/^With the unsaved policy: \d/);
  await expect(change).toHaveText("With the unsaved policy: 1 appear, 0 vanish, 5 stay.");
  await expect(simulator.getByRole("cell", { name: "appears" })).toHaveCount(1);
  await expect(simulator.getByText("4 rows as anon")).toBeVisible();
  await expect(simulator.getByText("explanation and real result agree")).toBeVisible();
  await simulator.getByRole("button", { name: "6", exact: true }).click();
  await expect(simulator.getByText("With the unsaved policy: allowed.")).toBeVisible();
  expect(await findViolations(page)).toEqual([]);

  if (phone) await page.getByRole("button", { name: "Policies", exact: true }).click();
  await simulate("restrictive", "id > 2");
  await expect(change).toHaveText("With the unsaved policy: 0 appear, 2 vanish, 4 stay.");
  await expect(simulator.getByRole("cell", { name: "vanishes" })).toHaveCount(2);

  const seen = await fetch(`${consoleServer.apiUrl}/rest/v1/shelves?select=id&order=id`, {
    headers: { apikey: anonKey },
  });
  expect(await seen.json()).toEqual([{ id: 1 }, { id: 2 }, { id: 3 }, { id: 4 }]);
  expect(await rest(consoleServer, "shelves?select=id")).toHaveLength(6);
  await page.goto(address);
  await expect(saved).toHaveCount(1);
});
