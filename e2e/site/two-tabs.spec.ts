// The wizard in two tabs: both show one draft, which is submitted once, and the next person in the browser has another one. Answers
// take a while, as they do on a phone.

import type { BrowserContext } from "@playwright/test";
import {
  expectData,
  fetchRows,
  makeItem,
  uniqueName,
  uploadTrainingPhotos,
} from "../support/catalogue.ts";
import { owner, signUp } from "../support/clients.ts";
import { expect, fillSignIn, openSignedIn, signOut, test, toast } from "./journey.ts";

/** Milliseconds that every list takes. */
const answerMs = 120;

async function slowDown(context: BrowserContext): Promise<void> {
  await context.route("**/rest/v1/**", async (route) => {
    await new Promise((done) => setTimeout(done, answerMs));
    // The page may be gone by then.
    await route.continue().catch(() => undefined);
  });
}

/** An item of a name of its own, with a picture. */
async function makeNamedItem(): Promise<string> {
  const { id } = await makeItem();
  const name = uniqueName("Garment");
  const image = "/storage/v1/object/public/images/items/camel-overcoat.webp";
  expectData(await owner().from("items").update({ name, image }).eq("id", id).select("id"));
  return name;
}

test("an outfit that is begun in one tab is finished in another, and is submitted once @once", async ({
  page,
  context,
  person,
}) => {
  await slowDown(context);
  await uploadTrainingPhotos(person);
  const name = await makeNamedItem();
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

test("the next person in a browser neither sees nor submits the draft of the former, who finds it again @once", async ({
  page,
  context,
  person,
}) => {
  await slowDown(context);
  const next = await signUp();
  await Promise.all([uploadTrainingPhotos(person), uploadTrainingPhotos(next)]);
  const name = await makeNamedItem();
  await openSignedIn(page, person.email, "/create-outfit");
  await page.getByRole("searchbox", { name: "Search items" }).fill(name);
  await page.getByRole("button", { name: `Add ${name}` }).click();
  await expect(page.getByRole("button", { name: "Next" })).toBeEnabled();

  // The first tab stays open while another one changes the person.
  const second = await context.newPage();
  await second.goto("/");
  await signOut(second);
  // Nothing of the former person stays on the screen, also not in the tab that nobody has touched.
  await expect(page.getByText(name)).toHaveCount(0);
  await second.goto("/auth");
  await fillSignIn(second, next.email);
  await second.waitForURL((url) => url.pathname !== "/auth");
  await second.goto("/create-outfit");
  await expect(second.getByRole("button", { name: "Next" })).toBeDisabled();
  await page.goto("/create-outfit");
  await expect(page.getByRole("button", { name: "Next" })).toBeDisabled();
  expect(await fetchRows("combines", "user_id", next.id)).toEqual([]);

  await page.goto("/");
  await signOut(page);
  await page.goto("/auth");
  await fillSignIn(page, person.email);
  await page.waitForURL((url) => url.pathname !== "/auth");
  await page.goto("/create-outfit");
  await page.getByRole("button", { name: "Next" }).click();
  await page.getByRole("button", { name: "Submit Outfit" }).click();
  await expect(toast(page, "Outfit Combination Submitted")).toBeVisible();
  expect(await fetchRows("combines", "user_id", person.id)).toHaveLength(1);
  expect(await fetchRows("combines", "user_id", next.id)).toEqual([]);
});

test("a submission whose answer was lost takes nothing back of what an administrator has changed meanwhile @once", async ({
  page,
  context,
  person,
  pageErrors,
}) => {
  pageErrors.expectNetworkFailures();
  // The id of the outfit is there already.
  pageErrors.expectStatus(409, "/rest/v1/combines");
  await slowDown(context);
  await uploadTrainingPhotos(person);
  const name = await makeNamedItem();
  await openSignedIn(page, person.email, "/create-outfit");
  await page.getByRole("searchbox", { name: "Search items" }).fill(name);
  await page.getByRole("button", { name: `Add ${name}` }).click();
  await page.getByRole("button", { name: "Next" }).click();
  await page.getByLabel("Outfit name (optional)").fill("As it was sent");

  // It is stored, and the connection breaks before the answer.
  await context.route("**/rest/v1/combines?*", async (route) => {
    if (route.request().method() !== "POST") return route.fallback();
    await route.fetch();
    await route.abort("connectionreset");
  });
  await page.getByRole("button", { name: "Submit Outfit" }).click();
  await expect(toast(page, "Submission Failed")).toBeVisible();
  await context.unroute("**/rest/v1/combines?*");
  const [sent] = await fetchRows<{ id: string }>("combines", "user_id", person.id);
  const edit = { name: "Of the administrator", description: "Written by the administrator" };
  expectData(
    await owner()
      .from("combines")
      .update(edit)
      .eq("id", sent?.id ?? "")
      .select("id"),
  );

  // Sent once more as it is, it would be done. With another name both have changed it.
  await page.getByLabel("Outfit name (optional)").fill("Of the person");
  await page.getByRole("button", { name: "Submit Outfit" }).click();
  const question = page.getByRole("alertdialog");
  await expect(question).toContainText("Of the administrator");
  await question.getByRole("button", { name: "Save" }).click();
  await expect(toast(page, "Outfit Combination Submitted")).toBeVisible();
  expect(await fetchRows("combines", "user_id", person.id)).toMatchObject([
    { name: "Of the person", description: "Written by the administrator" },
  ]);
});

test("two tabs show one draft of the profile, and the text of none replaces that of the other @once", async ({
  page,
  context,
  person,
}) => {
  await openSignedIn(page, person.email, "/profile/edit");
  const second = await context.newPage();
  await second.goto("/profile/edit");
  await page.getByLabel("Bio").fill("Linen and wool");
  await expect(second.getByLabel("Bio")).toHaveValue("Linen and wool");
  await second.getByLabel("Bio").pressSequentially(", and silk");
  await expect(page.getByLabel("Bio")).toHaveValue("Linen and wool, and silk");

  await second.getByRole("button", { name: "Update Profile" }).click();
  await expect(toast(second, "Profile updated")).toBeVisible();
  await expect(page.getByText("You have unsaved changes")).toHaveCount(0);
  await expect(page.getByLabel("Bio")).toHaveValue("Linen and wool, and silk");
  expect(await fetchRows("profiles", "id", person.id)).toMatchObject([
    { bio: "Linen and wool, and silk" },
  ]);
});
