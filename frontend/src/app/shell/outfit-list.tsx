import { Shirt } from "lucide-react";
import type { ReactNode } from "react";
import { EmptyState } from "@/components/ui/empty-state";
import { ErrorNotice } from "@/components/ui/error-notice";
import { LoadMore, type PagedList } from "@/components/ui/load-more";
import type { Outfit } from "@/features/outfits/api/outfit";
import { OutfitGrid, OutfitGridSkeleton } from "@/features/outfits/components/outfit-grid";
import { OutfitLinkCard } from "./outfit-link-card";

interface OutfitListProps {
  list: PagedList & {
    data: readonly Outfit[] | undefined;
    error: unknown;
    isPending: boolean;
    refetch: () => unknown;
  };
  label: string;
  /** Sentence in place of an empty list. */
  empty: string;
  /** Button or link below the sentence, such as a link to all outfits. */
  action?: ReactNode;
  /** Badge over a card's picture. */
  mark?: (outfit: Outfit) => ReactNode;
}

/** A list of outfits on a reading page in its four states, with a button for the next page. */
export function OutfitList({ list, label, empty, action, mark }: OutfitListProps) {
  if (list.isPending) return <OutfitGridSkeleton count={6} />;
  if (list.data === undefined) {
    return (
      <ErrorNotice
        title="The outfits could not be loaded."
        error={list.error}
        onRetry={list.refetch}
      />
    );
  }
  if (list.data.length === 0) {
    return <EmptyState glyph={<Shirt strokeWidth={1.4} />} title={empty} action={action} />;
  }
  return (
    <>
      <OutfitGrid outfits={list.data} label={label}>
        {(outfit, _index, eager) => (
          <OutfitLinkCard outfit={outfit} eager={eager} mark={mark?.(outfit)} />
        )}
      </OutfitGrid>
      <LoadMore list={list} />
    </>
  );
}
