import { act, screen, waitFor, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { renderAt } from "@/testing/render";
import { ItemForm } from "./item-form";

const address = "https://www.farfetch.com/shopping/women/coat-item-1001.aspx";
const product = {
  name: "Wool coat",
  brand: "Maison",
  description: null,
  price: 2490,
  currency: "USD",
  image: "/storage/v1/object/public/images/items/coat.png",
  productId: 1001,
  gender: "women",
  sourceUrl: address,
  brandId: null,
};

/** Tables of the server, whose rows it sends by id and name. */
let tables: Record<string, { id: string; name: string; [column: string]: unknown }[]>;
/** Once set, reading a table of this name takes until it is released. */
let isSlow: (table: string) => boolean;
let releaseReads: () => void;
/** How often a table was read. */
let reads: number;
/** Inserts, in order. */
let inserted: { table: string; row: Record<string, unknown> }[];
/** What an insert waits for. */
let insertion: Promise<void>;
let releaseInsert: () => void;
/** Whether a row is stored without an answer. */
let isAnswerLost: boolean;

function holdInserts() {
  insertion = new Promise((resolve) => {
    releaseInsert = resolve;
  });
}

beforeEach(() => {
  tables = {
    brands: [{ id: "brand-1", name: "Atelier" }],
    categories: [
      { id: "category-1", name: "Coats" },
      { id: "category-2", name: "Shoes" },
    ],
    subcategories: [],
    colors: [
      { id: "color-1", name: "Black", hex_code: "#000000" },
      { id: "color-2", name: "White", hex_code: "#ffffff" },
    ],
  };
  inserted = [];
  isAnswerLost = false;
  insertion = Promise.resolve();
  isSlow = () => false;
  reads = 0;
  const slowReads = new Promise<void>((resolve) => {
    releaseReads = resolve;
  });
  vi.stubGlobal("fetch", async (input: RequestInfo | URL, init?: RequestInit) => {
    const url = new URL(String(input), "http://localhost");
    if (url.pathname === "/functions/v1/fetch-farfetch") return Response.json(product);
    const table = url.pathname.split("/").at(-1) ?? "";
    if (init?.method === "POST") {
      const row = JSON.parse(String(init.body));
      await insertion;
      inserted.push({ table, row });
      if (tables[table]?.some(({ id }) => id === row.id)) {
        const message = `duplicate key value violates unique constraint "${table}_pkey"`;
        return Response.json({ code: "23505", message }, { status: 409 });
      }
      tables[table]?.push({ ...row, version: 1 });
      if (isAnswerLost) throw new TypeError("Failed to fetch");
      return Response.json([{ id: row.id }], { status: 201 });
    }
    if (isSlow(table)) await slowReads;
    reads += 1;
    const wanted = url.searchParams.get("id")?.replace("eq.", "");
    const rows = (tables[table] ?? []).filter(({ id }) => wanted === undefined || id === wanted);
    return Response.json(rows);
  });
});

/** Opens the form for a new item, with all lists loaded. */
async function openForm(onClose = () => {}) {
  const user = userEvent.setup();
  renderAt("/", <ItemForm item={null} onClose={onClose} />);
  await screen.findByRole("option", { name: "Atelier" });
  await screen.findByRole("option", { name: "Coats" });
  return user;
}

describe("what is created inside of the form is chosen", () => {
  it("an imported product keeps its new brand while the list of brands is read anew", async () => {
    const user = await openForm();
    await user.click(screen.getByRole("button", { name: "Import from Farfetch" }));
    await user.type(screen.getByLabelText("Product URL"), address);
    await user.click(screen.getByRole("button", { name: "Import" }));
    const preview = await screen.findByRole("region", { name: "Imported product" });
    isSlow = (table) => table === "brands";
    await user.click(within(preview).getByRole("button", { name: "Create brand" }));
    await screen.findByText("Brand created");
    await user.click(within(preview).getByRole("button", { name: "Use this product" }));

    expect(screen.getByLabelText("Brand")).toHaveDisplayValue("Maison");
    releaseReads();
    await waitFor(() => expect(inserted).toHaveLength(1));
    expect(screen.getByLabelText("Brand")).toHaveValue(`${inserted[0]?.row.id}`);
  });

  it("a product cannot be used before the brand that was asked for has its id", async () => {
    const user = await openForm();
    await user.click(screen.getByRole("button", { name: "Import from Farfetch" }));
    await user.type(screen.getByLabelText("Product URL"), address);
    await user.click(screen.getByRole("button", { name: "Import" }));
    const preview = await screen.findByRole("region", { name: "Imported product" });
    holdInserts();
    await user.click(within(preview).getByRole("button", { name: "Create brand" }));

    const use = within(preview).getByRole("button", { name: "Use this product" });
    expect(use).toBeDisabled();
    releaseInsert();
    await waitFor(() => expect(use).toBeEnabled());
    await user.click(use);
    expect(screen.getByLabelText("Brand")).toHaveDisplayValue("Maison");
  });

  it("a new brand is chosen at once, before the list of brands has come for the first time", async () => {
    isSlow = (table) => table === "brands";
    const user = userEvent.setup();
    renderAt("/", <ItemForm item={null} onClose={() => {}} />);
    await user.click(screen.getByRole("button", { name: "New brand" }));
    await user.type(screen.getByLabelText("Name of the new brand"), "Maison{Enter}");

    await waitFor(() =>
      expect(screen.getByLabelText("Brand")).toHaveValue(`${inserted[0]?.row.id}`),
    );
    expect(screen.getByLabelText("Brand")).toHaveDisplayValue("Loading...");
    releaseReads();
    await waitFor(() => expect(screen.getByLabelText("Brand")).toHaveDisplayValue("Maison"));
  });

  it("a name that was typed and not added yet is asked about before the form closes", async () => {
    const onClose = vi.fn();
    const user = await openForm(onClose);
    await user.click(screen.getByRole("button", { name: "New brand" }));
    await user.type(screen.getByLabelText("Name of the new brand"), "Maison");
    await user.click(screen.getByRole("button", { name: "Close" }));

    const question = await screen.findByRole("alertdialog");
    expect(onClose).not.toHaveBeenCalled();
    await user.click(within(question).getByRole("button", { name: "Cancel" }));
    expect(screen.getByLabelText("Name of the new brand")).toHaveValue("Maison");
    // Saving would leave it out without a word.
    await user.click(screen.getByRole("button", { name: "Save" }));
    expect(await screen.findByText("Not saved yet")).toBeVisible();
    expect(screen.getByLabelText("Name of the new brand")).toHaveValue("Maison");
    expect(onClose).not.toHaveBeenCalled();
  });

  it("a brand whose answer was lost is chosen by the next attempt, and made once", async () => {
    const user = await openForm();
    isAnswerLost = true;
    await user.click(screen.getByRole("button", { name: "New brand" }));
    await user.type(screen.getByLabelText("Name of the new brand"), "Maison{Enter}");
    expect(await screen.findByText("Error creating brand")).toBeVisible();
    isAnswerLost = false;
    await user.click(screen.getByRole("button", { name: "Add" }));

    await waitFor(() => expect(screen.getByLabelText("Brand")).toHaveDisplayValue("Maison"));
    expect(inserted.map(({ row }) => row.id)).toEqual([inserted[0]?.row.id, inserted[0]?.row.id]);
    expect(tables.brands).toHaveLength(2);
  });

  it("a new subcategory is not chosen for another category", async () => {
    const user = await openForm();
    await user.selectOptions(screen.getByLabelText("Category"), "Coats");
    await user.click(screen.getByRole("button", { name: "New subcategory" }));
    holdInserts();
    await user.type(screen.getByLabelText("Name of the new subcategory"), "Trench{Enter}");
    await user.selectOptions(screen.getByLabelText("Category"), "Shoes");
    const before = reads;
    releaseInsert();
    await screen.findByText("Subcategory created");
    // The lists of brands, categories, subcategories and colors are read anew before the callbacks of a change are called.
    await waitFor(() => expect(reads).toBe(before + 4));
    await act(async () => {});

    expect(inserted[0]?.row).toMatchObject({ name: "Trench", category_id: "category-1" });
    expect(screen.getByLabelText("Subcategory")).toHaveValue("");
  });

  it("colors chosen while a new one is created stay chosen", async () => {
    const user = await openForm();
    await user.click(screen.getByRole("button", { name: "New color" }));
    await user.type(screen.getByLabelText("Name of the new color"), "Red");
    await user.type(screen.getByLabelText("Hex code of the new color"), "ff0000");
    holdInserts();
    await user.click(screen.getByRole("button", { name: "Add" }));
    await user.click(screen.getByRole("checkbox", { name: "White" }));
    isSlow = (table) => table === "colors";
    releaseInsert();

    expect(await screen.findByRole("checkbox", { name: "Red" })).toBeChecked();
    expect(screen.getByRole("checkbox", { name: "White" })).toBeChecked();
  });

  it("a line whose row is being made is not left, as the answer would take what the next one holds", async () => {
    const user = await openForm();
    await user.click(screen.getByRole("button", { name: "New brand" }));
    holdInserts();
    await user.type(screen.getByLabelText("Name of the new brand"), "Maison{Enter}");
    await user.keyboard("{Escape}");
    const [cancel] = screen.getAllByRole("button", { name: "Cancel" });
    expect(cancel).toBeDisabled();
    expect(screen.getByLabelText("Name of the new brand")).toHaveValue("Maison");
    releaseInsert();
    await waitFor(() => expect(screen.getByLabelText("Brand")).toHaveDisplayValue("Maison"));
    expect(screen.queryByLabelText("Name of the new brand")).not.toBeInTheDocument();
  });

  it("neither is that of a color", async () => {
    const user = await openForm();
    await user.click(screen.getByRole("button", { name: "New color" }));
    await user.type(screen.getByLabelText("Name of the new color"), "Red");
    await user.type(screen.getByLabelText("Hex code of the new color"), "ff0000");
    holdInserts();
    await user.click(screen.getByRole("button", { name: "Add" }));
    screen.getByLabelText("Name of the new color").focus();
    await user.keyboard("{Escape}");
    expect(screen.getByLabelText("Name of the new color")).toHaveValue("Red");
    releaseInsert();
    expect(await screen.findByRole("checkbox", { name: "Red" })).toBeChecked();
  });

  it("is not saved without what is still being created", async () => {
    const user = await openForm();
    await user.click(screen.getByRole("button", { name: "New brand" }));
    holdInserts();
    await user.type(screen.getByLabelText("Name of the new brand"), "Maison{Enter}");

    await waitFor(() => expect(screen.getByRole("button", { name: "Save" })).toBeDisabled());
    isSlow = () => true;
    releaseInsert();
    await waitFor(() => expect(screen.getByRole("button", { name: "Save" })).toBeEnabled());
    expect(screen.getByLabelText("Brand")).toHaveDisplayValue("Maison");
  });
});

describe("while the item is saved", () => {
  async function save(onClose: () => void) {
    const user = await openForm(onClose);
    await user.type(screen.getByLabelText("Name"), "Coat");
    await user.selectOptions(screen.getByLabelText("Brand"), "Atelier");
    await user.selectOptions(screen.getByLabelText("Category"), "Coats");
    await user.click(screen.getByRole("button", { name: "New brand" }));
    holdInserts();
    await user.click(screen.getByRole("button", { name: "Save" }));
    await screen.findByText("Saving…");
    return user;
  }

  it("nothing can be typed that would be gone with the form, which closes before the lists are read", async () => {
    const onClose = vi.fn();
    const user = await save(onClose);
    isSlow = () => true;
    await user.type(screen.getByLabelText("Name"), "s");
    await user.type(screen.getByLabelText("Name of the new brand"), "Maison");
    await user.click(screen.getByRole("checkbox", { name: "White" }));
    expect(screen.getByLabelText("Name")).toHaveValue("Coat");
    expect(screen.getByLabelText("Name of the new brand")).toHaveValue("");
    expect(screen.getByRole("checkbox", { name: "White" })).not.toBeChecked();
    expect(onClose).not.toHaveBeenCalled();

    releaseInsert();
    await waitFor(() => expect(onClose).toHaveBeenCalledOnce());
    expect(inserted[0]?.row).toMatchObject({ name: "Coat", colors: [] });
  });

  it("the fields wait, and can be edited again when it has failed", async () => {
    isAnswerLost = true;
    const user = await save(() => {});
    releaseInsert();
    const name = screen.getByLabelText("Name");
    await waitFor(() => expect(name).toBeEnabled());
    await user.type(name, "s");
    expect(name).toHaveValue("Coats");
  });

  it("so do the letters of a name that is being added", async () => {
    const user = await openForm();
    await user.click(screen.getByRole("button", { name: "New brand" }));
    holdInserts();
    await user.type(screen.getByLabelText("Name of the new brand"), "Maison{Enter}");
    await user.type(screen.getByLabelText("Name of the new brand"), " Noire{Enter}");
    expect(screen.getByLabelText("Name of the new brand")).toHaveValue("Maison");
    releaseInsert();
    await waitFor(() => expect(inserted.map(({ row }) => row.name)).toEqual(["Maison"]));
  });
});
