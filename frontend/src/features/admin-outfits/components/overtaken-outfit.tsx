import { useQuery } from "@tanstack/react-query";
import {
  type Overtaken,
  OvertakenDialog,
  showNames,
  showPicture,
} from "@/components/overtaken-dialog";
import { itemsByIdQuery } from "@/lib/admin-items";
import { capitalise } from "@/lib/format";
import { colorsQuery, outfitStylesQuery } from "@/lib/vocabulary";
import type { OutfitValues } from "../api/save-outfit";

/** Asks what to keep of an outfit that its creator, or another administrator, has saved meanwhile. */
export function OvertakenOutfitDialog({ overtaken }: { overtaken: Overtaken<OutfitValues> }) {
  const { mine, theirs } = overtaken;
  const { data: items } = useQuery(itemsByIdQuery([...mine.item_ids, ...theirs.item_ids]));
  const { data: styles } = useQuery(outfitStylesQuery());
  const { data: colors } = useQuery(colorsQuery());
  const itemName = (id: string) => items?.find((item) => item.id === id)?.name ?? "…";
  return (
    <OvertakenDialog
      noun="outfit"
      overtaken={overtaken}
      fields={{
        name: { label: "Name" },
        description: { label: "Description" },
        meta_description: { label: "Meta description" },
        main_image: { label: "Main image", show: showPicture },
        image_alt: { label: "Image description" },
        gender: { label: "Gender", show: (gender) => capitalise(String(gender)) },
        outfit_styles: { label: "Outfit styles", show: showNames((id) => styles?.get(id) ?? "…") },
        colors: { label: "Colors", show: showNames((id) => colors?.get(id)?.name ?? "…") },
        item_ids: { label: "Items", show: showNames(itemName) },
      }}
    />
  );
}
