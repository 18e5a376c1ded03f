import { useInfiniteQuery } from "@tanstack/react-query";
import { Button } from "@ui/button";
import { Compass, Search } from "lucide-react";
import { Link } from "react-router";
import { NewestBelow } from "@/app/shell/newest-below";
import { EmptyState } from "@/components/ui/empty-state";
import { outfitListQuery } from "@/features/outfits/api/list-outfits";
import { ExploreLink } from "./explore-link";
import { exploreSearch, sectionPath, useExploreParams } from "./explore-params";
import { OutfitSection } from "./outfit-section";
import { VisitorIntro } from "./visitor-intro";

export function ExploreSection() {
  const { genders } = useExploreParams();
  const list = useInfiniteQuery(outfitListQuery({ search: "", genders }));
  return (
    <OutfitSection
      title="Explore Outfits"
      intro={<VisitorIntro />}
      list={list}
      empty={
        genders.length > 0 ? (
          <EmptyState
            glyph={<Compass strokeWidth={1.4} />}
            title="No outfits match this filter."
            action={
              <Button variant="primary" asChild>
                <Link to={sectionPath("explore")}>Clear filter</Link>
              </Button>
            }
          />
        ) : (
          <EmptyState
            glyph={<Compass strokeWidth={1.4} />}
            title="No outfits yet. The first ones will appear here."
          />
        )
      }
    />
  );
}

export function SearchSection() {
  const { query, genders } = useExploreParams();
  const list = useInfiniteQuery(outfitListQuery({ search: query, genders }));
  const found = list.data === undefined || list.data.length > 0;
  return (
    <OutfitSection
      title={found ? `Search Results for "${query}"` : "No results found"}
      list={list}
      empty={
        <>
          <EmptyState
            followed
            glyph={<Search strokeWidth={1.4} />}
            title={`No outfit, brand, color or style is called "${query}"${genders.length > 0 ? " within this filter" : ""}.`}
            action={
              genders.length > 0 ? (
                <Button variant="primary" asChild>
                  <Link to={`/${exploreSearch({ query })}`}>Clear filter</Link>
                </Button>
              ) : (
                <ExploreLink />
              )
            }
          />
          <NewestBelow />
        </>
      }
    />
  );
}
