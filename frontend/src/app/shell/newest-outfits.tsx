import { useInfiniteQuery } from "@tanstack/react-query";
import { outfitListQuery } from "@/features/outfits/api/list-outfits";
import { outfitCardShape } from "@/features/outfits/components/outfit-card-shape";
import { paths } from "@/lib/paths";
import { OutfitLinkCard } from "./outfit-link-card";
import { RowSection } from "./page-section";

/** The newest outfits, shown below a page whose subject does not exist. */
export function NewestOutfits() {
  const list = useInfiniteQuery(outfitListQuery({ search: "", genders: [] }));
  return (
    <RowSection
      title="Newest outfits"
      more={{ to: paths.explore, label: "All outfits" }}
      list={{ ...list, data: list.data?.slice(0, 8) }}
      shape={outfitCardShape}
    >
      {(outfit) => <OutfitLinkCard outfit={outfit} />}
    </RowSection>
  );
}
