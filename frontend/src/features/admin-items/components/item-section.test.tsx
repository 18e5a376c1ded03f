import { screen, waitFor, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { beforeEach, expect, it, vi } from "vitest";
import { renderAt } from "@/testing/render";
import { ItemSection } from "./item-section";

const item = (id: string, name: string) => ({
  id: `00000000-0000-4000-8000-00000000000${id}`,
  version: 1,
  name,
  slug: name.toLowerCase(),
  created_at: "2026-01-01T00:00:00Z",
  product_id: 7,
  price: 20,
  description: null,
  meta_description: null,
  image: null,
  brand_id: "brand-1",
  category_id: "category-1",
  subcategory_id: null,
  gender: "women",
  source_url: null,
  colors: [],
  brand: { name: "Maison" },
  category: { name: "Coats" },
});
const items = [item("1", "Alba"), item("2", "Bora")];

/** Bodies of what was sent to each function or table, in order. */
let sent: { to: string; body: Record<string, unknown> }[];

beforeEach(() => {
  sent = [];
  window.history.replaceState(null, "", "/");
  vi.stubGlobal("fetch", async (input: RequestInfo | URL, init?: RequestInit) => {
    const to = new URL(String(input), "http://localhost").pathname.split("/").at(-1) ?? "";
    if (init?.method === "POST") {
      sent.push({ to, body: JSON.parse(String(init.body)) });
      if (to === "count_wearing") return Response.json(3);
      return Response.json(to === "items" ? [{ id: items[0]?.id }] : 2);
    }
    if (to === "items") {
      return Response.json(items, { headers: { "content-range": "0-1/2" } });
    }
    const named: Record<string, object[]> = {
      brands: [{ id: "brand-1", name: "Maison" }],
      categories: [{ id: "category-1", name: "Coats" }],
    };
    return Response.json(named[to] ?? []);
  });
});

/** Answers the request for one table otherwise. */
function answer(table: string, response: () => Response): void {
  const others = fetch;
  vi.stubGlobal("fetch", (input: RequestInfo | URL, init?: RequestInit) =>
    new URL(String(input), "http://localhost").pathname.endsWith(`/${table}`)
      ? Promise.resolve(response())
      : others(input, init),
  );
}

const press = (name: string) => userEvent.click(screen.getByRole("button", { name }));

it("changes what is filled in, and nothing else, of all ticked items", async () => {
  renderAt("/", <ItemSection />);
  await userEvent.click(await screen.findByLabelText("Select Alba"));
  expect(screen.getByText("1 selected")).toBeVisible();
  await userEvent.click(screen.getByLabelText("Select all of the page"));
  await press("Edit selected");
  const panel = await screen.findByRole("dialog", { name: "Edit 2 items" });
  const change = within(panel).getByRole("button", { name: "Change 2 items" });
  expect(change).toBeDisabled();
  await userEvent.type(within(panel).getByLabelText("Price ($)"), "-1");
  expect(await within(panel).findByText("Price cannot be negative")).toBeVisible();
  await userEvent.clear(within(panel).getByLabelText("Price ($)"));
  await userEvent.type(within(panel).getByLabelText("Price ($)"), "19.90");
  await userEvent.click(change);

  expect(await screen.findByText("2 items changed")).toBeVisible();
  expect(sent).toEqual([
    { to: "edit_items", body: { ids: items.map(({ id }) => id), price: 19.9 } },
  ]);
  expect(screen.queryByText("2 selected")).not.toBeInTheDocument();
});

it("a brand that is chosen for several items stays chosen when its list is looked at again", async () => {
  answer("brands", () =>
    Response.json(Array.from({ length: 51 }, (_, at) => ({ id: `b${at}`, name: `Brand ${at}` }))),
  );
  renderAt("/", <ItemSection />);
  await userEvent.click(await screen.findByLabelText("Select all of the page"));
  await press("Edit selected");
  const panel = within(await screen.findByRole("dialog", { name: "Edit 2 items" }));
  await userEvent.type(panel.getByLabelText("Price ($)"), "5");
  const brand = panel.getByLabelText("Brand");
  await waitFor(() => expect(brand).toHaveAttribute("role", "combobox"));
  await userEvent.click(brand);
  await userEvent.click(panel.getByText("Brand 3"));
  await userEvent.click(brand);
  await userEvent.click(panel.getByLabelText("Price ($)"));
  await userEvent.click(panel.getByText("Change 2 items"));

  expect(await screen.findByText("2 items changed")).toBeVisible();
  expect(sent).toMatchObject([{ to: "edit_items", body: { price: 5, brand: "b3" } }]);
});

it("says before it deletes ticked items how many outfits wear them", async () => {
  renderAt("/", <ItemSection />);
  await userEvent.click(await screen.findByLabelText("Select all of the page"));
  await press("Delete selected");
  const question = await screen.findByRole("alertdialog", { name: "Delete 2 items?" });
  expect(await within(question).findByText(/taken out of 3 outfits/)).toBeVisible();
  await userEvent.click(within(question).getByRole("button", { name: "Delete" }));

  expect(await screen.findByText("2 items deleted")).toBeVisible();
  expect(sent.filter(({ to }) => to === "delete_items")).toEqual([
    { to: "delete_items", body: { ids: items.map(({ id }) => id) } },
  ]);
});

it("a copy has everything but the number, and the form after it has brand and category of the one before", async () => {
  renderAt("/", <ItemSection />);
  await screen.findByText("Alba");
  await press("Duplicate Alba");
  const panel = await screen.findByRole("dialog", { name: "Add Item" });
  await waitFor(() => expect(within(panel).getByLabelText("Brand")).toHaveDisplayValue("Maison"));
  const name = within(panel).getByLabelText("Name");
  expect(name).toHaveValue("Alba");
  expect(within(panel).getByLabelText("Product ID")).toHaveValue("");
  await userEvent.type(name, " II");
  await userEvent.click(within(panel).getByRole("button", { name: "Save and add another" }));

  const next = () => within(screen.getByRole("dialog", { name: "Add Item" }));
  await waitFor(() => expect(next().getByLabelText("Name")).toHaveValue(""));
  expect(sent).toMatchObject([{ to: "items", body: { name: "Alba II", product_id: null } }]);
  expect(next().getByLabelText("Brand")).toHaveDisplayValue("Maison");
  expect(next().getByLabelText("Category")).toHaveDisplayValue("Coats");
  expect(next().getByLabelText("Price ($)")).toHaveValue(0);
});
