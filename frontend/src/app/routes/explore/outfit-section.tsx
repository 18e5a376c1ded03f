import type { ReactNode } from "react";
import { NextPage, type PagedListState } from "@/app/shell/next-page";
import { ErrorNotice } from "@/components/ui/error-notice";
import type { Outfit } from "@/features/outfits/api/outfit";
import { OutfitGrid, OutfitGridSkeleton } from "@/features/outfits/components/outfit-grid";
import { useWithoutBlocked } from "@/lib/blocked-people";
import { pageTitle } from "@/lib/product";
import { ExploreCard } from "./explore-card";
import { ExploreModal } from "./explore-modal";
import { exploreSearch, useExploreParams } from "./explore-params";

/** State of a list of outfits: the result of `useQuery`, or of `useInfiniteQuery` for lists in pages. */
export interface OutfitListState extends PagedListState {
  data: Outfit[] | undefined;
  isPending: boolean;
  isError: boolean;
  error: unknown;
  refetch: () => unknown;
  isPlaceholderData?: boolean;
}

interface OutfitSectionProps {
  title: string;
  list: OutfitListState;
  empty: ReactNode;
  /** Between the title and the list. */
  intro?: ReactNode;
  /** Badge over a card's picture. */
  mark?: (outfit: Outfit, index: number) => ReactNode;
  /** Buttons of a card, in place of like and bookmark. */
  actions?: (outfit: Outfit) => ReactNode;
  /** False for bookmarks: the specification hides items there. */
  showItems?: boolean;
}

/** A titled list of outfits in its four states (loading, failed, empty, filled), with the modal. */
export function OutfitSection({
  title,
  list: everybody,
  empty,
  intro,
  mark,
  actions,
  showItems = true,
}: OutfitSectionProps) {
  // For the modal, too, whose arrows go through the same outfits as the grid.
  const list = { ...everybody, data: useWithoutBlocked(everybody.data) };
  return (
    <section aria-labelledby="section-title">
      <title>{pageTitle(title)}</title>
      <h1 id="section-title" className="mb-7 font-serif text-display text-ink max-md:mb-5">
        {title}
      </h1>
      {intro}
      <OutfitSectionBody title={title} list={list} empty={empty} mark={mark} actions={actions} />
      <ExploreModal list={list} showItems={showItems} />
    </section>
  );
}

type OutfitSectionBodyProps = Pick<OutfitSectionProps, "title" | "list" | "empty"> & {
  mark: OutfitSectionProps["mark"];
  actions: OutfitSectionProps["actions"];
};

function OutfitSectionBody({ title, list, empty, mark, actions }: OutfitSectionBodyProps) {
  const params = useExploreParams();
  if (list.isPending) return <OutfitGridSkeleton />;
  if (list.data === undefined) {
    return (
      <ErrorNotice
        title="The outfits could not be loaded."
        error={list.error}
        onRetry={list.refetch}
      />
    );
  }
  // When all outfits of a page are by blocked people, later pages may still have others.
  if (list.data.length === 0) {
    return list.hasNextPage === true ? <NextPage list={list} noun="outfits" /> : empty;
  }
  const openId = list.data.find(
    ({ id, slug }) => params.outfit === slug || params.outfit === id,
  )?.id;
  return (
    <>
      <OutfitGrid
        outfits={list.data}
        label={title}
        busy={list.isPlaceholderData ?? false}
        openId={openId}
      >
        {(outfit, index, eager) => (
          <ExploreCard
            outfit={outfit}
            eager={eager}
            search={exploreSearch({ ...params, outfit: outfit.slug })}
            mark={mark?.(outfit, index)}
            actions={actions?.(outfit)}
          />
        )}
      </OutfitGrid>
      <NextPage list={list} noun="outfits" />
    </>
  );
}
