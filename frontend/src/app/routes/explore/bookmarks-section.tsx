import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { cn } from "@ui/cn";
import { Bookmark, FolderOpen } from "lucide-react";
import { Link, useNavigate } from "react-router";
import { EmptyState } from "@/components/ui/empty-state";
import { BookmarkButton } from "@/features/bookmarks/components/bookmark-button";
import { type Collection, collectionsQuery } from "@/features/collections/api/collections";
import { CollectButton } from "@/features/collections/components/collect-button";
import { CollectionTools } from "@/features/collections/components/collection-tools";
import { NewCollectionButton } from "@/features/collections/components/new-collection-button";
import { collectedOutfitsQuery } from "@/features/outfits/api/list-collected-outfits";
import { bookmarkedOutfitsQuery } from "@/features/outfits/api/list-saved-outfits";
import type { Outfit } from "@/features/outfits/api/outfit";
import { ExploreLink } from "./explore-link";
import { exploreSearch, sectionPath, useExploreParams } from "./explore-params";
import { OutfitSection } from "./outfit-section";
import { SignedInOnly } from "./saved-sections";

export function BookmarksSection() {
  return (
    <SignedInOnly
      title="Your Bookmarked Outfits"
      reason="Sign in to see the outfits you have bookmarked."
    >
      {(userId) => <Bookmarks userId={userId} />}
    </SignedInOnly>
  );
}

/** All bookmarks, or those of the collection in the address. */
function Bookmarks({ userId }: { userId: string }) {
  const { collection: chosenId } = useExploreParams();
  const { data: collections } = useQuery(collectionsQuery(userId));
  const chosen = collections?.find(({ id }) => id === chosenId);
  const actions = (outfit: Outfit) => (
    <>
      <CollectButton userId={userId} outfit={outfit} />
      <BookmarkButton outfitId={outfit.id} outfitName={outfit.name} />
    </>
  );
  const bar = <Collections userId={userId} collections={collections} chosenId={chosen?.id} />;
  return chosen === undefined ? (
    <AllBookmarks userId={userId} bar={bar} actions={actions} />
  ) : (
    <Collected key={chosen.id} userId={userId} collection={chosen} bar={bar} actions={actions} />
  );
}

interface ListProps {
  userId: string;
  /** The choice of a collection. */
  bar: React.ReactNode;
  actions: (outfit: Outfit) => React.ReactNode;
}

function AllBookmarks({ userId, bar, actions }: ListProps) {
  const list = useInfiniteQuery(bookmarkedOutfitsQuery(userId));
  return (
    <OutfitSection
      title="Your Bookmarked Outfits"
      intro={bar}
      list={list}
      showItems={false}
      actions={actions}
      empty={
        <EmptyState
          glyph={<Bookmark strokeWidth={1.4} />}
          title="You haven't bookmarked any outfits yet."
          action={<ExploreLink />}
        />
      }
    />
  );
}

function Collected({ userId, collection, bar, actions }: ListProps & { collection: Collection }) {
  const navigate = useNavigate();
  const list = useInfiniteQuery(collectedOutfitsQuery(collection.id));
  return (
    <OutfitSection
      title={collection.name}
      intro={
        <>
          {bar}
          <CollectionTools
            userId={userId}
            collection={collection}
            onDeleted={() => navigate(sectionPath("bookmarks"), { replace: true })}
          />
        </>
      }
      list={list}
      showItems={false}
      actions={actions}
      empty={
        <EmptyState
          glyph={<FolderOpen strokeWidth={1.4} />}
          title="Nothing is in this collection yet. Put bookmarked outfits into it by the folder on their cards."
          action={
            <Link
              to={sectionPath("bookmarks")}
              className="inline-flex min-h-11 items-center underline underline-offset-4"
            >
              All bookmarks
            </Link>
          }
        />
      }
    />
  );
}

const chip =
  "inline-flex h-9 max-w-full items-center gap-2 rounded-full border px-3.5 text-small transition-colors pointer-coarse:h-11";

interface CollectionsProps {
  userId: string;
  /** Absent until they are loaded. */
  collections: readonly Collection[] | undefined;
  chosenId: string | undefined;
}

/** Links to all bookmarks and to each collection. */
function Collections({ userId, collections, chosenId }: CollectionsProps) {
  const navigate = useNavigate();
  const pathOf = (id: string) => `/${exploreSearch({ section: "bookmarks", collection: id })}`;
  const choices = [
    { id: undefined, name: "All bookmarks", to: sectionPath("bookmarks") },
    ...(collections ?? []).map(({ id, name }) => ({ id, name, to: pathOf(id) })),
  ];
  return (
    <nav aria-label="Collections" className="mb-6">
      <ul className="flex flex-wrap gap-2">
        {choices.map(({ id, name, to }) => (
          <li key={to} className="min-w-0">
            <Link
              to={to}
              aria-current={id === chosenId ? "page" : undefined}
              className={cn(
                chip,
                id === chosenId
                  ? "border-ink bg-ink text-canvas"
                  : "border-line text-ink hover:border-ink-soft",
              )}
            >
              <span className="truncate">{name}</span>
            </Link>
          </li>
        ))}
        <li>
          <NewCollectionButton
            userId={userId}
            className={cn(chip, "border-line-strong/60 border-dashed text-ink hover:border-ink")}
            onMade={(id) => navigate(pathOf(id))}
          />
        </li>
      </ul>
    </nav>
  );
}
