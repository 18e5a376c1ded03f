// Creators are followed, their outfits come to the dashboard, and a tap of a visitor is done after signing in.

import { expectData, fetchRows, makeOutfit } from "../support/catalogue.ts";
import { owner, signUp } from "../support/clients.ts";
import { cards, expect, fillSignIn, goTo, openSignedIn, test, toast } from "./journey.ts";
import { findViolations } from "./measure.ts";

test("a creator is followed, told, and their outfits are in Following @once", async ({
  page,
  person,
}) => {
  const creator = await signUp();
  const outfit = await makeOutfit(creator, "approved");
  await openSignedIn(page, person.email, `/${creator.username}`);
  const numbers = page.getByRole("list", { name: "Numbers" });
  await expect(numbers).toContainText("1 outfit");
  await expect(numbers).toContainText("0 followers");
  await page.getByRole("button", { name: "Follow", exact: false }).click();
  await expect(toast(page, "Following")).toBeVisible();
  await expect(numbers).toContainText("1 follower");
  await expect(page.getByRole("button", { name: /^Following/ })).toHaveAttribute(
    "aria-pressed",
    "true",
  );

  await page.goto("/");
  await goTo(page, "Following");
  const { name } = outfit;
  await expect(cards(page, "Following").filter({ hasText: name })).toHaveCount(1);

  const other = await page.context().browser()?.newContext();
  const theirs = await other?.newPage();
  if (theirs === undefined) throw new Error("no second browser");
  await openSignedIn(theirs, creator.email, new URL("/notifications", page.url()).href);
  const note = theirs.getByRole("link", { name: /New follower/ });
  await expect(note).toContainText(`@${person.username} follows you.`);
  await note.click();
  await expect(theirs.getByText(`@${person.username}`).first()).toBeVisible();
  await other?.close();

  await page.goto(`/${creator.username}`);
  await page.getByRole("button", { name: /^Following/ }).click();
  await expect(toast(page, "No longer following")).toBeVisible();
  expect(await fetchRows("follows", "follower_id", person.id)).toEqual([]);
});

test("For you says why it shows what, and leads into Discovery", { tag: "@phone" }, async ({
  page,
  person,
  phone,
}) => {
  const [seen] = expectData(
    await owner().from("combines").select("id, name").eq("slug", "night-bus"),
  );
  expectData(
    await owner().from("likes").insert({ user_id: person.id, combine_id: seen?.id }).select(),
  );
  await openSignedIn(page, person.email, "/");
  await goTo(page, "For you");
  const because = page.getByRole("region", { name: `Because you liked ${seen?.name}` });
  await expect(because).toContainText("They share items, styles or colors with it.");
  await expect(because.getByRole("article").first()).toBeVisible();
  expect(await findViolations(page)).toEqual([]);
  await page.screenshot({ path: `artifacts/for-you-${phone ? "390" : "1440"}.png` });
  const style = page.getByRole("region", { name: "Styles and occasions" }).getByRole("link");
  const word = await style.first().textContent();
  await style.first().click();
  await expect(page).toHaveURL(/\/discovery\?style=/);
  await expect(page.getByRole("button", { name: new RegExp(`${word}`) }).first()).toBeVisible();
});

test("For you and Following invite those who have not begun @once", async ({ page, person }) => {
  await openSignedIn(page, person.email, "/?section=for-you");
  await expect(
    page.getByText("Like an outfit, or choose styles, and what resembles them is shown here."),
  ).toBeVisible();
  await goTo(page, "Following");
  await expect(
    page.getByText("Follow a creator on their page, and their outfits are shown here."),
  ).toBeVisible();
  await expect(page.getByRole("heading", { name: "Newest outfits" })).toBeVisible();
});

test("a heart that a visitor taps is kept, and is there after signing in", {
  tag: "@phone",
}, async ({ page, person }) => {
  // One of the demo data: outfits of other tests may leave the lists meanwhile.
  const name = "Night Bus";
  await page.goto(`/?q=${name}`);
  const card = page.getByRole("article").filter({ hasText: name }).first();
  if (!(await page.evaluate(() => matchMedia("(hover: none)").matches))) await card.hover();
  await card.getByRole("button", { name: `Like ${name}` }).click();
  await fillSignIn(page, person.email);

  await expect(toast(page, "Liked!")).toBeVisible();
  await expect(page.getByRole("button", { name: `Unlike ${name}` }).first()).toBeVisible();
  expect(await fetchRows("likes", "user_id", person.id)).toHaveLength(1);
});
