// The wizard: items are chosen, an outfit is reviewed and submitted, edited after a rejection, deleted with undo.

import type { Page } from "@playwright/test";
import {
  expectData,
  fetchRows,
  makeItem,
  makeOutfit,
  type Outfit,
  uniqueName,
  uploadTrainingPhotos,
} from "../support/catalogue.ts";
import { owner, type Person, signUpAdmin } from "../support/clients.ts";
import {
  expect,
  fillSignIn,
  openSignedIn,
  saveScreenshot,
  signIn,
  test,
  toast,
} from "./journey.ts";
import { findViolations } from "./measure.ts";

test.use({ contextOptions: { reducedMotion: "no-preference" } });

interface Named {
  id: string;
  name: string;
}

/** A new item of this gender with a picture of the seed. */
async function makeNamedItem(gender: string): Promise<Named> {
  const { id } = await makeItem();
  const image = "/storage/v1/object/public/images/items/camel-overcoat.webp";
  const name = uniqueName("Garment");
  expectData(await owner().from("items").update({ name, gender, image }).eq("id", id).select("id"));
  return { id, name };
}

/** Something that is waited for, and the function that lets it come. */
function gate(): [Promise<void>, () => void] {
  let open: () => void = () => undefined;
  const passed = new Promise<void>((resolve) => {
    open = resolve;
  });
  return [passed, () => open()];
}

async function addItem(page: Page, { name }: Named): Promise<void> {
  await page.getByRole("searchbox", { name: "Search items" }).fill(name);
  await page.getByRole("button", { name: `Add ${name}` }).click();
  await expect(page.getByRole("button", { name: `Added ${name}` })).toBeVisible();
}

function chips(page: Page) {
  return page.getByRole("list", { name: "Selected items" }).getByRole("listitem");
}

async function outfitsOf(person: Person): Promise<(Outfit & Record<string, unknown>)[]> {
  return fetchRows("combines", "user_id", person.id);
}

async function openReview(page: Page): Promise<void> {
  await page.getByRole("button", { name: "Next" }).click();
  await expect(page.getByRole("heading", { name: "Review & Submit" })).toBeFocused();
}

test("a visitor signs in, and is back in the wizard", async ({ page, person }) => {
  await page.goto("/create-outfit?q=coat");
  await expect(page).toHaveURL("/auth");
  await fillSignIn(page, person.email);

  await expect(page).toHaveURL("/create-outfit?q=coat");
  await expect(page.getByRole("heading", { name: "Select Items" })).toBeVisible();
  await expect(page.getByRole("button", { name: "Next" })).toBeDisabled();
});

test("items are found by search, category, brand and color, and the address keeps the filters", async ({
  page,
  person,
  phone,
}) => {
  await signIn(page, person.email);
  // Dozens of pictures that a busy machine is still rendering would hold up the searches.
  await page.route("**/storage/v1/**", (route) => route.abort("aborted"));
  await page.goto("/create-outfit");
  const items = page.getByRole("list", { name: "Available items" }).getByRole("listitem");
  await expect(items.first()).toBeVisible();
  expect(await findViolations(page)).toEqual([]);

  if (phone) await page.getByRole("button", { name: "Filters", exact: true }).click();
  await page.getByRole("combobox", { name: "Brand" }).selectOption("Corvane");
  await expect(items.first()).toContainText("Corvane");
  await page.getByRole("combobox", { name: "Category" }).selectOption("Outerwear");
  await page.getByRole("combobox", { name: "Color" }).selectOption("Camel");
  await expect(page).toHaveURL(/category=outerwear&brand=corvane&color=camel/);
  await page.reload();
  await expect(page.getByRole("combobox", { name: "Color" })).toHaveValue("camel");

  await page.getByRole("searchbox", { name: "Search items" }).fill("no such garment");
  await expect(page.getByText("No items found matching your criteria.")).toBeVisible();
  // What narrows the search can be taken back, and the newest items are there to go on with.
  const newest = page.getByRole("list", { name: "Newest items" }).getByRole("listitem");
  await expect(newest.first()).toBeVisible();
  expect(await findViolations(page)).toEqual([]);
  await saveScreenshot(page, "create-outfit-empty");
  await page.getByRole("button", { name: "Clear all" }).click();
  await expect(page).toHaveURL("/create-outfit");
  await expect(items.first()).toBeVisible();
});

test("going back and reloading lose nothing, and the outfit is submitted", {
  tag: "@phone",
}, async ({ page, person, phone }) => {
  await uploadTrainingPhotos(person);
  const [first, second] = [await makeNamedItem("men"), await makeNamedItem("unisex")];
  await openSignedIn(page, person.email, "/create-outfit");
  await addItem(page, first);
  await addItem(page, second);
  await saveScreenshot(page, "create-outfit-items");
  if (phone) {
    // Items come first: a whole card, the chosen ones and Next are on the screen together.
    const available = page.getByRole("list", { name: "Available items" });
    await page.evaluate(() => window.scrollTo({ top: 0, behavior: "instant" }));
    await expect(available.getByRole("button", { name: /^Add/ }).first()).toBeInViewport();
    await expect(chips(page).first()).toBeInViewport();
    await expect(page.getByRole("button", { name: "Next" })).toBeInViewport();
    // The page scrolls, and not a frame in it, and the way on stays.
    await page.getByRole("button", { name: "Clear search" }).click();
    const scrollTo = (top: number) =>
      page.evaluate((y) => {
        window.scrollTo({ top: y, behavior: "instant" });
        return window.scrollY;
      }, top);
    await expect.poll(() => scrollTo(2000)).toBe(2000);
    await expect(available.locator('[aria-posinset="11"]')).toBeInViewport();
    await expect(page.getByRole("button", { name: "Next" })).toBeInViewport({ ratio: 1 });
  }
  await openReview(page);
  await page.getByLabel("Outfit name (optional)").fill("A");
  await page.getByLabel("Outfit name (optional)").blur();
  await expect(page.getByText("Name must be at least 2 characters")).toBeVisible();
  await page.getByLabel("Outfit name (optional)").fill("Autumn walk");

  await page.reload();
  await expect(page.getByLabel("Outfit name (optional)")).toHaveValue("Autumn walk");
  await page.goBack();
  await expect(chips(page)).toHaveCount(2);
  await page.goForward();
  await expect(page.getByText("Complete: 3 of 3 photos are uploaded.")).toBeVisible();
  if (phone) {
    // The picture and the way on are on the screen together, and a swipe over the picture scrolls the page.
    await page.evaluate(() => window.scrollTo({ top: 0, behavior: "instant" }));
    const piece = page.getByRole("button", { name: /^Move / }).first();
    await expect(piece).toBeInViewport();
    await expect(piece).toHaveCSS("touch-action", "auto");
    await expect(page.getByRole("button", { name: "Submit Outfit" })).toBeInViewport({ ratio: 1 });
  }
  expect(await findViolations(page)).toEqual([]);
  await saveScreenshot(page, "create-outfit-review");
  await page.getByRole("button", { name: "Submit Outfit" }).click();

  await expect(toast(page, "Outfit Combination Submitted")).toContainText(
    "Your outfit combination has been submitted for admin review.",
  );
  await expect(page).toHaveURL("/profile?tab=submissions");
  expect(await outfitsOf(person)).toMatchObject([
    {
      name: "Autumn walk",
      status: "pending",
      gender: "unisex",
      description: "User-created outfit with 2 items",
      item_ids: [first.id, second.id],
      // Nothing was chosen, so all items lie on one sheet.
      main_image: expect.stringContaining("/composed-"),
      outfit_styles: [],
      created_by_admin: false,
    },
  ]);
  // The draft was deleted.
  await page.goto("/create-outfit");
  await expect(page.getByRole("button", { name: "Next" })).toBeDisabled();
});

test("an item that moves while it is pressed is added", async ({ page, person }) => {
  // The newest one is the first of all items. Found by its name, the other one takes its place.
  const [pressed] = [await makeNamedItem("men"), await makeNamedItem("men")];
  await openSignedIn(page, person.email, "/create-outfit");
  const add = page.getByRole("button", { name: `Add ${pressed.name}` });
  await add.hover();
  const [ready, setReady] = gate();
  const [release, setReleased] = gate();
  const found = "**/rpc/search_items*";
  await page.route(found, async (route) => {
    const response = await route.fetch();
    setReady();
    await release;
    await route.fulfill({ response });
  });
  await page.getByRole("searchbox", { name: "Search items" }).fill(pressed.name);
  await ready;

  const before = await add.boundingBox();
  const answered = page.waitForResponse(found);
  await page.mouse.down();
  setReleased();
  await (await answered).finished();
  await page.evaluate(
    () => new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn))),
  );
  expect(await add.boundingBox()).toEqual(before);
  await page.mouse.up();

  await expect(chips(page)).toHaveText([new RegExp(pressed.name)]);
  const available = page.getByRole("list", { name: "Available items" });
  await expect(available.getByRole("listitem")).toHaveCount(1);
});

test("the second click of a double click takes out no other item, and submits nothing", {
  tag: "@phone",
}, async ({ page, person }) => {
  await uploadTrainingPhotos(person);
  const [first, second] = [await makeNamedItem("men"), await makeNamedItem("men")];
  await openSignedIn(page, person.email, "/create-outfit");
  await addItem(page, first);
  await addItem(page, second);

  await page.getByRole("button", { name: `Remove ${first.name}` }).dblclick();
  await expect(chips(page)).toHaveText([new RegExp(second.name)]);
  await page.getByRole("button", { name: "Next" }).dblclick();
  await expect(page.getByRole("heading", { name: "Review & Submit" })).toBeFocused();
  await expect(page.getByRole("button", { name: "Submit Outfit" })).toBeEnabled();
  expect(await outfitsOf(person)).toEqual([]);
  // Both clicks are one step of the history.
  await page.goBack();
  await expect(chips(page)).toHaveText([new RegExp(second.name)]);
});

test("changing the gender asks before it takes items out", async ({ page, person, phone }) => {
  const [men, unisex] = [await makeNamedItem("men"), await makeNamedItem("unisex")];
  await openSignedIn(page, person.email, "/create-outfit");
  await addItem(page, men);
  await addItem(page, unisex);

  if (phone) await page.getByRole("button", { name: "Filters", exact: true }).click();
  await page.getByText("Women", { exact: true }).click();
  const dialog = page.getByRole("alertdialog", { name: "Change to Women?" });
  await expect(dialog.getByRole("listitem")).toHaveText([men.name]);
  expect(await findViolations(page)).toEqual([]);
  await page.keyboard.press("Escape");
  await expect(dialog).toBeHidden();
  await expect(page.getByRole("radio", { name: "All" })).toBeChecked();
  await expect(chips(page)).toHaveCount(2);

  await page.getByText("Women", { exact: true }).click();
  await dialog.getByRole("button", { name: "Remove 1 item" }).click();
  await expect(page.getByRole("radio", { name: "Women" })).toBeChecked();
  await expect(chips(page)).toHaveText([new RegExp(unisex.name)]);
});

test("the keyboard alone builds an outfit", { tag: "@once" }, async ({ page, person }) => {
  await uploadTrainingPhotos(person);
  const item = await makeNamedItem("women");
  await openSignedIn(page, person.email, "/create-outfit");
  await page.getByRole("searchbox", { name: "Search items" }).focus();
  await page.keyboard.type(item.name);
  const add = page.getByRole("button", { name: `Add ${item.name}` });
  await expect(add).toBeVisible();
  for (let presses = 0; presses < 12; presses += 1) {
    await page.keyboard.press("Tab");
    if (await add.evaluate((button) => button === document.activeElement)) {
      break;
    }
  }
  await expect(add).toBeFocused();
  await page.keyboard.press("Enter");
  await expect(page.getByText(`Added ${item.name}. 1 item selected.`)).toBeAttached();
  await page.getByRole("button", { name: "Next" }).focus();
  await page.keyboard.press("Enter");
  await expect(page.getByRole("heading", { name: "Review & Submit" })).toBeFocused();
  await expect(page.getByRole("button", { name: "Submit Outfit" })).toBeEnabled();
  await page.getByLabel("Outfit name (optional)").focus();
  await page.keyboard.press("Enter");

  await expect(page).toHaveURL("/profile?tab=submissions");
  const [made] = await outfitsOf(person);
  expect(made?.name).toMatch(/^Outfit \d{4}-\d{2}-\d{2} \d{2}:\d{2}$/);
});

test("all items can be drawn on one picture, and an own picture can be uploaded", async ({
  page,
  person,
}) => {
  await uploadTrainingPhotos(person);
  const items = [await makeNamedItem("unisex"), await makeNamedItem("unisex")];
  await openSignedIn(page, person.email, "/create-outfit");
  for (const item of items) {
    await addItem(page, item);
  }
  await openReview(page);
  const file = page.getByLabel("Upload a picture");
  await file.setInputFiles({
    name: "notes.txt",
    mimeType: "text/plain",
    buffer: Buffer.from("no picture"),
  });
  await expect(toast(page, "Invalid File")).toContainText("Please upload an image file.");
  await file.setInputFiles({
    name: "text.png",
    mimeType: "image/png",
    buffer: Buffer.from("no picture"),
  });
  await expect(toast(page, "Please upload a valid image file")).toBeVisible();
  await file.setInputFiles("../sql/app/seed/combine-images/night-bus.webp");
  await expect(page.getByRole("radio", { name: "Your picture" })).toBeChecked();
  await page.reload();
  await expect(page.getByRole("radio", { name: "Your picture" })).toBeChecked();
  await page.getByText("All items together").click();
  await page.getByText("As worn").click();
  const piece = page.getByRole("button", { name: /^Move / }).first();
  const place = () =>
    piece.evaluate(
      ({ style }) => [style.left, style.top].map(Number.parseFloat) as [number, number],
    );
  const before = await place();
  await piece.press("ArrowDown");
  await expect(page.getByRole("button", { name: "Put everything back" })).toBeVisible();
  await expect.poll(async () => (await place())[1]).toBeGreaterThan(before[1]);
  await piece.hover();
  const grabbed = await piece.boundingBox();
  const middle = { x: (grabbed?.x ?? 0) + (grabbed?.width ?? 0) / 2, y: (grabbed?.y ?? 0) + 20 };
  await page.mouse.down();
  await page.mouse.move(middle.x + 40, middle.y, { steps: 4 });
  await page.mouse.up();
  await expect.poll(async () => (await place())[0]).not.toBe(before[0]);
  // A reload keeps it; another arrangement begins anew.
  await page.reload();
  await expect(page.getByRole("button", { name: "Put everything back" })).toBeVisible();
  await page.getByText("Laid out").click();
  await expect(page.getByRole("button", { name: "Put everything back" })).toBeHidden();
  await page.getByText("As worn").click();
  await page.getByRole("button", { name: "Submit Outfit" }).click();
  await expect(page).toHaveURL("/profile?tab=submissions");

  const [made] = await outfitsOf(person);
  const image = String(made?.main_image);
  expect(image).toMatch(
    new RegExp(
      `^/storage/v1/object/public/user-outfit-images/${person.id}/composed-worn-[\\w-]+\\.webp$`,
    ),
  );
  const picture = await page.request.get(image);
  expect(picture.headers()["content-type"]).toBe("image/webp");
  expect((await picture.body()).length).toBeGreaterThan(5000);
});

test("without three photos nothing can be submitted, and without the server nothing is lost", async ({
  page,
  person,
  pageErrors,
}) => {
  const item = await makeNamedItem("unisex");
  await openSignedIn(page, person.email, "/create-outfit");
  await addItem(page, item);
  await openReview(page);
  await expect(page.getByText("0 of 3 photos are uploaded.")).toBeVisible();
  await expect(page.getByRole("button", { name: "Submit Outfit" })).toBeDisabled();
  await page.getByLabel("Outfit name (optional)").fill("Patience");

  await uploadTrainingPhotos(person);
  await page.reload();
  pageErrors.expectNetworkFailures();
  await page.route("**/rest/v1/combines*", (route) => route.abort("connectionrefused"));
  await page.getByRole("button", { name: "Submit Outfit" }).click();
  await expect(toast(page, "Submission Failed")).toContainText(
    "Failed to submit outfit combination. Please try again.",
  );
  await expect(page.getByLabel("Outfit name (optional)")).toHaveValue("Patience");

  // The request arrives, but its answer is lost: the next attempt must not make a second outfit.
  await page.unroute("**/rest/v1/combines*");
  let isLost = false;
  await page.route("**/rest/v1/combines*", async (route) => {
    if (isLost || route.request().method() !== "POST") {
      return route.continue();
    }
    isLost = true;
    await route.fetch();
    return route.abort("connectionreset");
  });
  pageErrors.expectStatus(409, "/rest/v1/combines");
  await page.getByRole("button", { name: "Submit Outfit" }).click();
  await expect.poll(() => isLost).toBe(true);
  await page.getByRole("button", { name: "Submit Outfit" }).click();
  await expect(page).toHaveURL("/profile?tab=submissions");
  expect((await outfitsOf(person)).map(({ name }) => name)).toEqual(["Patience"]);
});

test("a rejected outfit shows the reason, is edited and submitted again", async ({
  page,
  person,
}) => {
  await uploadTrainingPhotos(person);
  const [kept, added] = [await makeNamedItem("unisex"), await makeNamedItem("unisex")];
  const name = uniqueName("Outfit");
  const { id } = expectData(
    await person.client
      .from("combines")
      .insert({ user_id: person.id, name, item_ids: [kept.id] })
      .select("id")
      .single(),
  );
  const admin = await signUpAdmin();
  const reason = "The shoes are missing.";
  expectData(await admin.client.rpc("review_combine", { combine_id: id, approve: false, reason }));
  await openSignedIn(page, person.email, "/profile?tab=outfits");
  const card = page.getByRole("article").filter({ hasText: name });
  await expect(card).toContainText(reason);
  await saveScreenshot(page, "my-outfits");
  expect(await findViolations(page)).toEqual([]);

  await card.getByRole("link", { name: `Edit ${name}` }).click();
  await expect(page.getByText(`This outfit was not approved. ${reason}`)).toBeVisible();
  await expect(chips(page)).toHaveText([new RegExp(kept.name)]);
  await addItem(page, added);
  await openReview(page);
  await expect(page.getByLabel("Outfit name (optional)")).toHaveValue(name);
  await page.getByRole("button", { name: "Submit Outfit" }).click();

  await expect(page).toHaveURL("/profile?tab=submissions");
  expect(await outfitsOf(person)).toMatchObject([
    { id, name, status: "pending", rejection_reason: null, item_ids: [kept.id, added.id] },
  ]);
});

test("an outfit is deleted when its Undo has gone, and kept when it is pressed", async ({
  page,
  person,
}) => {
  await uploadTrainingPhotos(person);
  const item = await makeNamedItem("unisex");
  const names = [uniqueName("Kept"), uniqueName("Gone")];
  for (const name of names) {
    expectData(
      await person.client
        .from("combines")
        .insert({ user_id: person.id, name, item_ids: [item.id] })
        .select("id"),
    );
  }
  await openSignedIn(page, person.email, "/profile?tab=outfits");
  const cards = page.getByRole("list", { name: "My Outfits" }).getByRole("article");
  await expect(cards).toHaveCount(2);

  await page.getByRole("button", { name: `Delete ${names[0]}` }).click();
  await expect(cards).toHaveCount(1);
  await toast(page, "Outfit deleted").getByRole("button", { name: "Undo" }).click();
  await expect(cards).toHaveCount(2);

  await page.getByRole("button", { name: `Delete ${names[1]}` }).click();
  await expect(cards).toHaveCount(1);
  expect(await outfitsOf(person)).toHaveLength(2);
  await toast(page, "Outfit deleted").getByRole("button", { name: "Dismiss" }).click();
  await expect
    .poll(async () => (await outfitsOf(person)).map(({ name }) => name))
    .toEqual([names[0]]);
  await page.reload();
  await expect(cards).toHaveCount(1);
});

test("the dashboard's cards of own outfits are edited, deleted and shared, too", async ({
  page,
  person,
  context,
}) => {
  await context.grantPermissions(["clipboard-read", "clipboard-write"]);
  // Chromium without a screen has no dialog for sharing, and so the link is copied.
  await page.addInitScript(() => Reflect.deleteProperty(Navigator.prototype, "share"));
  await uploadTrainingPhotos(person);
  const live = await makeOutfit(person, "approved");
  const [kept, gone] = [await makeOutfit(person, "pending"), await makeOutfit(person, "pending")];
  await openSignedIn(page, person.email, "/?section=my-outfits");
  const list = page.getByRole("list", { name: "My outfits" }).getByRole("article");
  await expect(list).toHaveCount(3);
  await saveScreenshot(page, "dashboard-my-outfits");

  await list.filter({ hasText: live.name }).hover();
  await page.getByRole("button", { name: `Share ${live.name}` }).click();
  await expect(toast(page, "Link copied")).toBeVisible();
  expect(await page.evaluate(() => navigator.clipboard.readText())).toMatch(/\/look\/[\w-]+$/);
  await expect(page.getByRole("button", { name: `Delete ${live.name}` })).toHaveCount(0);

  await list.filter({ hasText: gone.name }).hover();
  await page.getByRole("button", { name: `Delete ${gone.name}` }).click();
  await expect(list).toHaveCount(2);
  await toast(page, "Outfit deleted").getByRole("button", { name: "Undo" }).click();
  await expect(list).toHaveCount(3);
  await page.getByRole("button", { name: `Delete ${gone.name}` }).click();
  await toast(page, "Outfit deleted").getByRole("button", { name: "Dismiss" }).click();
  await expect.poll(async () => (await outfitsOf(person)).length).toBe(2);
  await expect(list).toHaveCount(2);

  await page.getByRole("link", { name: `Edit ${kept.name}` }).click();
  await expect(page).toHaveURL(`/create-outfit?outfit=${kept.id}`);
  await expect(page.getByRole("heading", { name: "Select Items" })).toBeVisible();
});

test("an approved outfit cannot be edited", { tag: "@once" }, async ({ page, person }) => {
  const item = await makeItem();
  const { id } = expectData(
    await owner()
      .from("combines")
      .insert({
        user_id: person.id,
        name: uniqueName("Outfit"),
        item_ids: [item.id],
        status: "approved",
      })
      .select("id")
      .single(),
  );
  await openSignedIn(page, person.email, `/create-outfit?outfit=${id}`);

  await expect(page.getByRole("heading", { name: "This outfit is live" })).toBeVisible();
});
