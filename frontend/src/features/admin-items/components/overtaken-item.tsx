import { useQuery } from "@tanstack/react-query";
import { OvertakenDialog, showNames, showPicture } from "@/components/overtaken-dialog";
import { capitalise } from "@/lib/format";
import { brandsQuery, categoriesQuery, colorsQuery, type NamedRow } from "@/lib/vocabulary";
import { subcategoriesOfQuery } from "../api/quick-create";
import type { OvertakenItem } from "./use-item-form";

const nameIn = (rows: readonly NamedRow[] | undefined) =>
  showNames((id) => rows?.find((row) => row.id === id)?.name ?? "Not in the list");

/** Asks what to keep of an item that somebody else has saved meanwhile. */
export function OvertakenItemDialog({ overtaken }: { overtaken: OvertakenItem }) {
  const { mine, theirs } = overtaken;
  const { data: brands } = useQuery(brandsQuery());
  const { data: categories } = useQuery(categoriesQuery());
  const { data: ofMine } = useQuery(subcategoriesOfQuery(mine.category));
  const { data: ofTheirs } = useQuery(subcategoriesOfQuery(theirs.category));
  const { data: colors } = useQuery(colorsQuery());
  const subcategories = [...(ofMine ?? []), ...(ofTheirs ?? [])];
  // Two categories are offered with their subcategories: those of one do not fit the other.
  const isOfTwo = overtaken.fields.includes("category");
  const asked = overtaken.fields.filter((field) => !isOfTwo || field !== "subcategory_id");
  function resolve(taken: readonly string[]) {
    overtaken.resolve(taken.includes("category") ? [...taken, "subcategory_id"] : taken);
  }
  function categoryWithSubcategory(category: unknown): string {
    const side = category === mine.category ? mine : theirs;
    const names = [
      categories?.find(({ id }) => id === category)?.name ?? "Not in the list",
      subcategories.find(({ id }) => id === side.subcategory_id)?.name,
    ];
    return names.filter((name) => name !== undefined).join(" / ");
  }
  return (
    <OvertakenDialog
      noun="item"
      overtaken={{ ...overtaken, fields: asked, resolve }}
      fields={{
        name: { label: "Name" },
        price: { label: "Price ($)" },
        product_id: { label: "Product ID" },
        gender: { label: "Gender", show: (gender) => capitalise(String(gender)) },
        brand_id: { label: "Brand", show: nameIn(brands) },
        category: { label: "Category", show: categoryWithSubcategory },
        subcategory_id: {
          label: "Subcategory",
          show: nameIn(subcategories),
        },
        source_url: { label: "Source URL" },
        image: { label: "Image", show: showPicture },
        description: { label: "Description" },
        meta_description: { label: "Meta description" },
        colors: { label: "Colors", show: showNames((id) => colors?.get(id)?.name ?? "…") },
      }}
    />
  );
}
