import { screen, waitFor, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { beforeEach, expect, it, vi } from "vitest";
import { parseCsv } from "@/lib/csv";
import { saveFile } from "@/lib/save-file";
import { renderAt } from "@/testing/render";
import type { AdminItem } from "../api/items";
import { EditItems } from "./edit-items";
import { ItemSection } from "./item-section";

vi.mock("@/lib/save-file");

const item = (id: string, name: string): AdminItem => ({
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
  subcategory: null,
});
const items: AdminItem[] = [item("1", "Alba"), item("2", "Bora")];

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
      if (to === "edit_items") return Response.json(items.map(({ id }) => id));
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
    {
      to: "edit_items",
      body: { ids: items.map(({ id }) => id), versions: [1, 1], price: 19.9 },
    },
  ]);
  expect(screen.queryByText("2 selected")).not.toBeInTheDocument();
});

it("names the items that somebody else has changed meanwhile, and that are left alone", async () => {
  answer("edit_items", () => Response.json([items[0]?.id]));
  renderAt("/", <EditItems items={items} onDone={vi.fn()} onClose={() => undefined} />);
  await userEvent.type(await screen.findByLabelText("Price ($)"), "5");
  await userEvent.click(screen.getByText("Change 2 items"));

  expect(await screen.findByText("1 item changed")).toBeVisible();
  // The notice is said to screen readers as well.
  const notice = { ignore: "[role=status]" };
  expect(screen.getByText(/meanwhile, and left alone: Bora\./, notice)).toBeVisible();
});

it("a brand that is chosen for several items stays chosen when its list is looked at again", async () => {
  answer("brands", () =>
    Response.json(Array.from({ length: 51 }, (_, at) => ({ id: `b${at}`, name: `Brand ${at}` }))),
  );
  const onDone = vi.fn();
  renderAt("/", <EditItems items={items} onDone={onDone} onClose={() => undefined} />);
  await userEvent.type(await screen.findByLabelText("Price ($)"), "5");
  // Until the list is there it is an ordinary select.
  await waitFor(() => expect(screen.getByLabelText("Brand")).toHaveAttribute("role", "combobox"));
  const brand = screen.getByLabelText("Brand");
  await userEvent.click(brand);
  await userEvent.click(screen.getByText("Brand 3"));
  await userEvent.click(brand);
  await userEvent.click(screen.getByLabelText("Price ($)"));
  await userEvent.click(screen.getByText("Change 2 items"));

  await waitFor(() => expect(onDone).toHaveBeenCalledOnce());
  expect(sent).toMatchObject([{ to: "edit_items", body: { price: 5, brand: "b3" } }]);
});

it("a file has the ids of its items and all their colors, or is not saved", async () => {
  const saved = vi.fn((_: Blob, __: string) => undefined);
  vi.mocked(saveFile).mockImplementation(saved);
  const red = { id: "red", name: "Red", hex_code: "#FF0000" };
  answer("items", () =>
    Response.json([{ ...items[0], colors: ["red", "blue"] }], {
      headers: { "content-range": "0-0/1" },
    }),
  );
  answer("colors", () => Response.json({ code: "57014", message: "busy" }, { status: 503 }));
  renderAt("/", <ItemSection />);
  await screen.findByText("Alba");
  await press("Export CSV");
  expect(await screen.findByText("Export failed")).toBeVisible();
  expect(saved).not.toHaveBeenCalled();

  answer("colors", () => Response.json([red]));
  await press("Export CSV");
  await waitFor(() => expect(saved).toHaveBeenCalledOnce());
  // A colleague has made Blue since.
  answer("colors", () => Response.json([red, { ...red, id: "blue", name: "Blue" }]));
  await press("Export CSV");
  await waitFor(() => expect(saved).toHaveBeenCalledTimes(2));
  const [file, name] = saved.mock.calls[1] ?? [];
  expect(name).toBe("items.csv");
  const [row] = parseCsv((await file?.text()) ?? "", []).rows;
  expect(row).toMatchObject({
    name: "Alba",
    price: "20.00",
    colors: "Red; Blue",
    id: items[0]?.id,
  });
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
