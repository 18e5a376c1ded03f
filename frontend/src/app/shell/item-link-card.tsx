import type { Item } from "@/features/items/api/item";
import { ItemCard } from "@/features/items/components/item-card";
import { LikeItemButton } from "@/features/likes/components/like-button";
import { outfitCardSizes } from "@/features/outfits/components/outfit-card-shape";

/** Item card with its like button. */
export function ItemLinkCard({ item, eager = false }: { item: Item; eager?: boolean }) {
  return (
    <ItemCard
      item={item}
      sizes={outfitCardSizes}
      eager={eager}
      actions={<LikeItemButton itemId={item.id} itemName={item.name} />}
    />
  );
}
