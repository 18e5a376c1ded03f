import { ColorList } from "@/components/color-list";
import { DetailRow, Details } from "@/components/ui/details";
import { capitalise } from "@/lib/format";
import type { Item } from "../api/item";

/** Gender, category and colors of an item. */
export function ItemDetails({ item }: { item: Item }) {
  const categories = [item.category?.name, item.subcategory?.name].filter(Boolean);
  return (
    <Details>
      <DetailRow term="Gender">{capitalise(item.gender)}</DetailRow>
      {categories.length > 0 && <DetailRow term="Category">{categories.join(", ")}</DetailRow>}
      {item.colors.length > 0 && (
        <DetailRow term="Colors">
          <ColorList ids={item.colors} />
        </DetailRow>
      )}
    </Details>
  );
}
