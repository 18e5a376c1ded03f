import { lazy, Suspense } from "react";
import { OutfitGridSkeleton } from "@/features/outfits/components/outfit-grid";
import { useExploreParams } from "./explore-params";
import { ExploreSection, SearchSection, TopSection } from "./sections";

// What one keeps for oneself is not part of the first load.
const keptSections = () => import("./kept-sections");
const LikesSection = lazy(async () => ({ default: (await keptSections()).LikesSection }));
const BookmarksSection = lazy(async () => ({ default: (await keptSections()).BookmarksSection }));
const MyOutfitsSection = lazy(async () => ({ default: (await keptSections()).MyOutfitsSection }));

/** The landing page and dashboard: the address says which section it shows. */
export function Explore() {
  return (
    <Suspense fallback={<OutfitGridSkeleton />}>
      <Section />
    </Suspense>
  );
}

function Section() {
  const { section } = useExploreParams();
  switch (section) {
    case "explore":
      return <ExploreSection />;
    case "search":
      return <SearchSection />;
    case "likes":
      return <LikesSection />;
    case "top":
      return <TopSection />;
    case "bookmarks":
      return <BookmarksSection />;
    case "my-outfits":
      return <MyOutfitsSection />;
  }
}
