import { Suspense } from "react";
import { OutfitGridSkeleton } from "@/features/outfits/components/outfit-grid";
import { lazyPart } from "@/lib/lazy-part";
import { useExploreParams } from "./explore-params";
import { ExploreSection, SearchSection } from "./sections";

// The code of these sections is loaded when one is opened, because a first visit shows none of them.
const TopSection = lazyPart(async () => ({ default: (await import("./top-section")).TopSection }));
// Visitors never see these sections, so their code is not part of the first load.
const savedSections = () => import("./saved-sections");
const LikesSection = lazyPart(async () => ({ default: (await savedSections()).LikesSection }));
const BookmarksSection = lazyPart(async () => ({
  default: (await import("./bookmarks-section")).BookmarksSection,
}));
const MyOutfitsSection = lazyPart(async () => ({
  default: (await savedSections()).MyOutfitsSection,
}));
const importPersonalSections = () => import("./personal-sections");
const ForYouSection = lazyPart(async () => ({
  default: (await importPersonalSections()).ForYouSection,
}));
const FollowingSection = lazyPart(async () => ({
  default: (await importPersonalSections()).FollowingSection,
}));

/** Landing page and dashboard. The search parameters decide which section is shown. */
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
    case "for-you":
      return <ForYouSection />;
    case "following":
      return <FollowingSection />;
  }
}
