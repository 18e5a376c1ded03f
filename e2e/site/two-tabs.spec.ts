// One person with the wizard in two tabs: both show one draft, which is submitted once.

import {
  expectData,
  fetchRows,
  makeItem,
  uniqueName,
  uploadTrainingPhotos,
} from "../support/catalogue.ts";
import { owner } from "../support/clients.ts";
import { expect, openSignedIn, test, toast } from "./journey.ts";

test("an outfit that is begun in one tab is finished in another, and is submitted once @once", async ({
  page,
  context,
  person,
}) => {
  await uploadTrainingPhotos(person);
  const { id } = await makeItem();
  const name = uniqueName("Garment");
  const image = "/storage/v1/object/public/images/items/camel-overcoat.webp";
  expectData(await owner().from("items").update({ name, image }).eq("id", id).select("id"));
  await openSignedIn(page, person.email, "/create-outfit");
  const second = await context.newPage();
  await second.goto("/create-outfit");
  await expect(second.getByRole("button", { name: "Next" })).toBeDisabled();

  await page.getByRole("searchbox", { name: "Search items" }).fill(name);
  await page.getByRole("button", { name: `Add ${name}` }).click();
  await second.getByRole("button", { name: "Next" }).click();
  await second.getByLabel("Outfit name (optional)").fill("Of two tabs");
  await page.getByRole("button", { name: "Next" }).click();
  await expect(page.getByLabel("Outfit name (optional)")).toHaveValue("Of two tabs");
  await page.getByRole("button", { name: "Submit Outfit" }).click();
  await expect(toast(page, "Outfit Combination Submitted")).toBeVisible();

  // The other tab begins anew and cannot submit the same draft again.
  await expect(second.getByRole("button", { name: "Next" })).toBeDisabled();
  expect(await fetchRows("combines", "user_id", person.id)).toMatchObject([
    { name: "Of two tabs" },
  ]);
});
