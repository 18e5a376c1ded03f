import { useQuery } from "@tanstack/react-query";
import { Button } from "@ui/button";
import { Heart, TrendingUp } from "lucide-react";
import { Link } from "react-router";
import { EmptyState } from "@/components/ui/empty-state";
import { likeCountsQuery } from "@/features/likes/api/like-counts";
import { topOutfitsQuery, topPeriods } from "@/features/outfits/api/list-top-outfits";
import { ExploreLink } from "./explore-link";
import { sectionPath, useExploreParams } from "./explore-params";
import { OutfitSection } from "./outfit-section";

/** The outfits with the most likes of a time, with their ranks and numbers. */
export function TopSection() {
  const { period } = useExploreParams();
  const list = useQuery(topOutfitsQuery(period));
  const ids = list.data?.map(({ id }) => id) ?? [];
  const { data: likes } = useQuery({ ...likeCountsQuery(ids), enabled: ids.length > 0 });
  const label = topPeriods.find(({ value }) => value === period)?.label ?? "";
  return (
    <OutfitSection
      title={`Top Outfits - ${label}`}
      list={list}
      mark={(outfit, index) => <Rank place={index + 1} likes={likes?.get(outfit.id)} />}
      empty={
        <EmptyState
          glyph={<TrendingUp strokeWidth={1.4} />}
          title="No top outfits found for this time period"
          action={
            period === "all" ? (
              <ExploreLink />
            ) : (
              <Button variant="primary" asChild>
                <Link to={sectionPath("top")}>Show All Time</Link>
              </Button>
            )
          }
        />
      }
    />
  );
}

function Rank({ place, likes }: { place: number; likes: number | undefined }) {
  return (
    <span className="inline-flex h-9 min-w-9 items-center justify-center rounded-full bg-canvas/75 px-2 font-serif text-ink text-name tabular-nums backdrop-blur-sm">
      <span className="sr-only">Rank </span>
      {place}
      {likes !== undefined && (
        <span className="ml-2 inline-flex items-center gap-1 pr-1 font-sans text-caption">
          <Heart aria-hidden="true" className="size-3.5" strokeWidth={1.8} />
          {likes.toLocaleString("en-US")}
          <span className="sr-only">{likes === 1 ? " like" : " likes"}</span>
        </span>
      )}
    </span>
  );
}
