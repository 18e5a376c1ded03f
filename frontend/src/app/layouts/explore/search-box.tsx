import { useNavigate } from "react-router";
import {
  exploreSearch,
  parseExploreParams,
  useExploreParams,
} from "@/app/routes/explore/explore-params";
import { SearchField } from "@/components/search-field";
import { usePresentAddress } from "@/lib/use-present-address";

/** Typing switches to the search section, clearing goes back to Explore. */
export function SearchBox({ className = "" }: { className?: string }) {
  const navigate = useNavigate();
  const { query } = useExploreParams();
  const present = usePresentAddress();
  return (
    <SearchField
      query={query}
      label="Search outfits"
      placeholder="Search outfits..."
      className={className}
      onSearch={(next) => {
        const now = parseExploreParams(present().params);
        // While typing, the history entry is replaced: one entry per search, not one per letter.
        navigate(`/${exploreSearch({ query: next, genders: now.genders })}`, {
          replace: now.query !== "",
        });
      }}
    />
  );
}
