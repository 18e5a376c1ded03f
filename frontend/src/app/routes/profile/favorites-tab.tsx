import { useInfiniteQuery } from "@tanstack/react-query";
import { Heart } from "lucide-react";
import { ExploreLink } from "@/app/routes/explore/explore-link";
import { ItemLinkCard } from "@/app/shell/item-link-card";
import { OutfitList } from "@/app/shell/outfit-list";
import { EmptyState } from "@/components/ui/empty-state";
import { ErrorNotice } from "@/components/ui/error-notice";
import { LoadMore } from "@/components/ui/load-more";
import { TabList } from "@/components/ui/tab-list";
import * as Tabs from "@/components/ui/tabs";
import { likedItemsQuery } from "@/features/items/api/list-liked-items";
import { ItemGrid, ItemGridSkeleton } from "@/features/items/components/item-grid";
import { likedOutfitsQuery } from "@/features/outfits/api/list-saved-outfits";

const favoriteTabs = [
  { value: "outfits", label: "Outfits" },
  { value: "products", label: "Products" },
] as const;

/** Outfits and items that the user likes. */
export function FavoritesTab({ userId }: { userId: string }) {
  return (
    <section aria-labelledby="favorites-title">
      <h2 id="favorites-title" className="font-serif text-heading">
        My Favorite Items
      </h2>
      <Tabs.Root defaultValue="outfits" className="mt-4">
        <TabList label="My Favorite Items" tabs={favoriteTabs} className="mb-7" />
        <Tabs.Content value="outfits" tabIndex={-1} className="outline-none">
          <FavoriteOutfits userId={userId} />
        </Tabs.Content>
        <Tabs.Content value="products" tabIndex={-1} className="outline-none">
          <FavoriteProducts userId={userId} />
        </Tabs.Content>
      </Tabs.Root>
    </section>
  );
}

function FavoriteOutfits({ userId }: { userId: string }) {
  const list = useInfiniteQuery(likedOutfitsQuery(userId));
  return (
    <OutfitList
      list={list}
      label="Favorite outfits"
      empty="You haven't added any favorite outfits yet"
      action={<ExploreLink />}
    />
  );
}

function FavoriteProducts({ userId }: { userId: string }) {
  const list = useInfiniteQuery(likedItemsQuery(userId));
  if (list.isPending) return <ItemGridSkeleton count={6} />;
  if (list.data === undefined) {
    return (
      <ErrorNotice
        title="The products could not be loaded."
        error={list.error}
        onRetry={list.refetch}
      />
    );
  }
  if (list.data.length === 0) {
    return (
      <EmptyState
        glyph={<Heart strokeWidth={1.4} />}
        title="You haven't added any favorite products yet"
        action={<ExploreLink />}
      />
    );
  }
  return (
    <>
      <ItemGrid items={list.data} label="Favorite products">
        {(item, _index, eager) => <ItemLinkCard item={item} eager={eager} />}
      </ItemGrid>
      <LoadMore list={list} />
    </>
  );
}
