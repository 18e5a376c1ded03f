import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { LoadingPage } from "@ui/spinner";
import { FolderOpen } from "lucide-react";
import { Link, useParams } from "react-router";
import { ExploreLink } from "@/app/routes/explore/explore-link";
import { exploreSearch } from "@/app/routes/explore/explore-params";
import { NewestOutfits } from "@/app/shell/newest-outfits";
import { OutfitList } from "@/app/shell/outfit-list";
import { ShareButton } from "@/components/share-button";
import { ErrorNotice } from "@/components/ui/error-notice";
import { MissingNotice } from "@/components/ui/missing-notice";
import {
  type SharedCollection,
  sharedCollectionQuery,
} from "@/features/collections/api/shared-collection";
import { collectedOutfitsQuery } from "@/features/outfits/api/list-collected-outfits";
import { paths } from "@/lib/paths";
import { pageTitle } from "@/lib/product";

/** A shared collection, at /collections/{id}; its link is all that one needs. */
export function CollectionPage() {
  const { id = "" } = useParams();
  const { data, isPending, isLoadingError, error, refetch } = useQuery(sharedCollectionQuery(id));
  if (isPending) return <LoadingPage />;
  if (isLoadingError) {
    return (
      <ErrorNotice title="The collection could not be loaded." error={error} onRetry={refetch} />
    );
  }
  if (data === null) {
    return (
      <>
        <MissingNotice
          glyph={<FolderOpen strokeWidth={1.3} />}
          page="Collection not found"
          title="This collection is not shared."
          text="Its owner may have stopped sharing it, or the link is incomplete."
        />
        <NewestOutfits />
      </>
    );
  }
  return <Collection key={data.id} collection={data} />;
}

function Collection({ collection }: { collection: SharedCollection }) {
  const list = useInfiniteQuery(collectedOutfitsQuery(collection.id));
  const { id, name, username, is_own: isOwn } = collection;
  return (
    <section aria-labelledby="collection-title">
      <title>{pageTitle(name)}</title>
      <meta name="robots" content="noindex" />
      <h1 id="collection-title" className="font-serif text-display [overflow-wrap:anywhere]">
        {name}
      </h1>
      <div className="mt-2 mb-8 flex flex-wrap items-center gap-x-4 text-ink-soft text-small">
        {username !== null && (
          <Link
            to={paths.profile(username)}
            className="inline-flex min-h-11 items-center hover:text-ink"
          >
            A collection of @{username}
          </Link>
        )}
        {isOwn && (
          <Link
            to={`/${exploreSearch({ section: "bookmarks", collection: id })}`}
            className="inline-flex min-h-11 items-center underline underline-offset-4 hover:text-ink"
          >
            Change it
          </Link>
        )}
        <ShareButton path={paths.collection(id)} name={name} />
      </div>
      <OutfitList
        list={list}
        label={name}
        empty="Nothing is in this collection yet."
        action={<ExploreLink />}
      />
    </section>
  );
}
