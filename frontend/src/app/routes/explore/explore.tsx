import { useExploreParams } from "./explore-params";
import {
  BookmarksSection,
  ExploreSection,
  LikesSection,
  MyOutfitsSection,
  SearchSection,
  TopSection,
} from "./sections";

/** The landing page and dashboard: the address says which section it shows. */
export function Explore() {
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
