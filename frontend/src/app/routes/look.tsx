import { useQuery } from "@tanstack/react-query";
import { Shirt } from "lucide-react";
import { Link, useParams } from "react-router";
import { Button } from "@/components/ui/button";
import { ErrorNotice } from "@/components/ui/error-notice";
import { Picture } from "@/components/ui/picture";
import { Skeleton } from "@/components/ui/skeleton";
import { BookmarkButton } from "@/features/bookmarks/components/bookmark-button";
import { LikeButton } from "@/features/likes/components/like-button";
import { outfitQuery } from "@/features/outfits/api/get-outfit";
import type { Outfit } from "@/features/outfits/api/outfit";
import { OutfitCreatorLine } from "@/features/outfits/components/outfit-creator";
import { OutfitDetails } from "@/features/outfits/components/outfit-details";
import { OutfitItems } from "@/features/outfits/components/outfit-items";
import { ShareButton } from "@/features/outfits/components/share-button";
import { paths } from "@/lib/paths";
import { pageTitle } from "@/lib/product";

/** An outfit's own page, by slug or id: what a shared link opens. */
export function Look() {
  const { id = "" } = useParams();
  const { data: outfit, isPending, isError, error, refetch } = useQuery(outfitQuery(id));
  if (isPending) return <LookSkeleton />;
  if (isError) {
    return <ErrorNotice title="The outfit could not be loaded." error={error} onRetry={refetch} />;
  }
  if (outfit === null) return <OutfitNotFound />;
  return <OutfitPage outfit={outfit} />;
}

const columns = "grid gap-8 md:grid-cols-[minmax(0,1.1fr)_minmax(0,1fr)] md:gap-14";

function OutfitPage({ outfit }: { outfit: Outfit }) {
  return (
    <article className={columns}>
      <title>{pageTitle(outfit.name)}</title>
      {outfit.description !== null && <meta name="description" content={outfit.description} />}
      <div className="md:sticky md:top-24 md:self-start">
        <div className="aspect-4/5 overflow-hidden rounded-lg bg-raised">
          <Picture
            url={outfit.main_image}
            alt={outfit.image_alt ?? outfit.name}
            sizes="(min-width: 1280px) 640px, (min-width: 768px) 50vw, 100vw"
            width={960}
            height={1200}
            eager
            className="size-full"
          />
        </div>
      </div>
      <div className="md:pt-4">
        <h1 className="font-serif text-display">{outfit.name}</h1>
        <div className="mt-4">
          <OutfitCreatorLine creator={outfit.creator} />
        </div>
        <div className="-ml-2.5 mt-2 flex items-center gap-1">
          <LikeButton combineId={outfit.id} outfitName={outfit.name} variant="plain" />
          <BookmarkButton combineId={outfit.id} outfitName={outfit.name} variant="plain" />
          <ShareButton outfit={outfit} />
        </div>
        {outfit.description !== null && (
          <p className="mt-5 max-w-prose text-ink-soft">{outfit.description}</p>
        )}
        <div className="mt-8">
          <OutfitDetails outfit={outfit} />
        </div>
        <div className="mt-10">
          <OutfitItems outfit={outfit} />
        </div>
      </div>
    </article>
  );
}

function LookSkeleton() {
  return (
    <div role="status" className={columns}>
      <span className="sr-only">Loading outfit...</span>
      <Skeleton className="aspect-4/5 w-full rounded-lg" />
      <div className="md:pt-4">
        <Skeleton className="h-14 w-4/5" />
        <Skeleton className="mt-6 h-9 w-40 rounded-full" />
        <Skeleton className="mt-12 h-4 w-full" />
        <Skeleton className="mt-3 h-4 w-2/3" />
      </div>
    </div>
  );
}

function OutfitNotFound() {
  return (
    <section className="mx-auto flex min-h-[60vh] max-w-md flex-col items-center justify-center gap-4 text-center">
      <title>{pageTitle("Outfit not found")}</title>
      <Shirt aria-hidden="true" className="size-8 text-ink-soft" strokeWidth={1.3} />
      <h1 className="font-serif text-title">This outfit is no longer here.</h1>
      <p className="text-ink-soft">
        Its creator may have taken it back, or the link is incomplete.
      </p>
      <Button variant="primary" asChild className="mt-3">
        <Link to={paths.explore}>Explore Outfits</Link>
      </Button>
    </section>
  );
}
