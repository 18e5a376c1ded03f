import { useNavigate } from "react-router";
import { exploreSearch, useExploreParams } from "@/app/routes/explore/explore-params";
import { SearchField } from "@/components/search-field";

/** Typing switches to the search section, clearing goes back to Explore. */
export function SearchBox({ className = "" }: { className?: string }) {
  const navigate = useNavigate();
  const { query, genders } = useExploreParams();
  return (
    <SearchField
      query={query}
      label="Search outfits"
      placeholder="Search outfits..."
      className={className}
      onSearch={(next) =>
        // While typing, the history entry is replaced: one entry per search, not one per letter.
        navigate(`/${exploreSearch({ query: next, genders })}`, { replace: query !== "" })
      }
    />
  );
}
