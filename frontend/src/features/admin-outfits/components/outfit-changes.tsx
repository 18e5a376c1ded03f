import { useQuery } from "@tanstack/react-query";
import { DetailRow, Details } from "@/components/ui/details";
import { itemsByIdQuery } from "@/lib/admin-items";
import { colorsQuery, outfitStylesQuery } from "@/lib/vocabulary";
import type { AdminOutfit } from "../api/outfits";
import { findChanges, isUnchanged, type ReviewedParts } from "../api/review-history";

const listTerms = { item_ids: "Items", outfit_styles: "Styles", colors: "Colors" } as const;

interface OutfitChangesProps {
  /** The outfit as it was decided about. */
  before: ReviewedParts;
  outfit: AdminOutfit;
}

/** The creator's changes since a review, each with the former value. */
export function OutfitChangesList({ before, outfit }: OutfitChangesProps) {
  const changes = findChanges(before, outfit);
  const nameOf = useNames(changes.lists.flatMap(({ added, removed }) => [...added, ...removed]));
  if (isUnchanged(changes)) {
    return <p className="text-ink-soft text-small">Nothing but the training photos, if any.</p>;
  }
  return (
    <Details>
      {changes.texts.map(({ term, before: old, now }) => (
        <DetailRow key={term} term={term}>
          <Replaced before={old} now={now} />
        </DetailRow>
      ))}
      {changes.picture !== null && (
        <DetailRow term="Picture">
          {changes.picture.before === null ? (
            "Added"
          ) : (
            <a href={changes.picture.before} target="_blank" rel="noreferrer" className="underline">
              Replaced; look at the earlier one
            </a>
          )}
        </DetailRow>
      )}
      {changes.lists.map(({ kind, added, removed }) => (
        <DetailRow key={kind} term={listTerms[kind]}>
          {removed.map((id) => (
            <del key={id} className="mr-3 inline-block text-ink-soft">
              <span className="sr-only">Removed: </span>
              {nameOf(id)}
            </del>
          ))}
          {added.map((id) => (
            <ins key={id} className="mr-3 inline-block font-medium no-underline">
              <span className="sr-only">Added: </span>+ {nameOf(id)}
            </ins>
          ))}
        </DetailRow>
      ))}
    </Details>
  );
}

function Replaced({ before, now }: { before: string | null; now: string | null }) {
  return (
    <span className="[overflow-wrap:anywhere]">
      {before !== null && (
        <del className="mr-2 text-ink-soft">
          <span className="sr-only">Before: </span>
          {before}
        </del>
      )}
      <ins className="font-medium no-underline">
        <span className="sr-only">Now: </span>
        {now ?? "Removed"}
      </ins>
    </span>
  );
}

/** Names of items, styles and colors by id. What was deleted since has no name any more. */
function useNames(ids: readonly string[]): (id: string) => string {
  const { data: items } = useQuery(itemsByIdQuery(ids));
  const { data: styles } = useQuery(outfitStylesQuery());
  const { data: colors } = useQuery(colorsQuery());
  const isLoaded = items !== undefined && styles !== undefined && colors !== undefined;
  return (id) =>
    items?.find((item) => item.id === id)?.name ??
    styles?.get(id) ??
    colors?.get(id)?.name ??
    (isLoaded ? "deleted since" : "…");
}
