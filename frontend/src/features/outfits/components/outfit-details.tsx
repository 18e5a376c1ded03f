import { useQuery } from "@tanstack/react-query";
import { ColorList } from "@/components/color-list";
import { DetailRow, Details } from "@/components/ui/details";
import { Skeleton } from "@/components/ui/skeleton";
import { capitalise } from "@/lib/format";
import { outfitStylesQuery } from "@/lib/vocabulary";
import type { Outfit } from "../api/outfit";

/** Gender, styles and colors of an outfit. */
export function OutfitDetails({ outfit }: { outfit: Outfit }) {
  const { data: styleNames } = useQuery(outfitStylesQuery());
  const styles = outfit.outfit_styles.flatMap((id) => styleNames?.get(id) ?? []);
  return (
    <Details>
      <DetailRow term="Gender">{capitalise(outfit.gender)}</DetailRow>
      {outfit.outfit_styles.length > 0 && (
        <DetailRow term="Styles">
          {styleNames === undefined ? <Skeleton className="mt-1 h-3.5 w-32" /> : styles.join(", ")}
        </DetailRow>
      )}
      {outfit.colors.length > 0 && (
        <DetailRow term="Colors">
          <ColorList ids={outfit.colors} />
        </DetailRow>
      )}
    </Details>
  );
}
