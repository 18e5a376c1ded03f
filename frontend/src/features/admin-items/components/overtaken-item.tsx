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
  return (
    <OvertakenDialog
      noun="item"
      overtaken={overtaken}
      fields={{
        name: { label: "Name" },
        price: { label: "Price ($)" },
        product_id: { label: "Product ID" },
        gender: { label: "Gender", show: (gender) => capitalise(String(gender)) },
        brand_id: { label: "Brand", show: nameIn(brands) },
        category: { label: "Category", show: nameIn(categories) },
        subcategory_id: {
          label: "Subcategory",
          show: nameIn([...(ofMine ?? []), ...(ofTheirs ?? [])]),
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
