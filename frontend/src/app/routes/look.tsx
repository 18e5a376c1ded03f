import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { Shirt } from "lucide-react";
import { Suspense } from "react";
import { useLocation, useParams } from "react-router";
import { NewestOutfits } from "@/app/shell/newest-outfits";
import { OutfitLinkCard } from "@/app/shell/outfit-link-card";
import { RowSection } from "@/app/shell/page-section";
import { Gallery } from "@/components/gallery";
import { ShareButton } from "@/components/share-button";
import { ErrorNotice } from "@/components/ui/error-notice";
import { MissingNotice } from "@/components/ui/missing-notice";
import { BookmarkButton } from "@/features/bookmarks/components/bookmark-button";
import { LikeButton } from "@/features/likes/components/like-button";
import { LikeCount } from "@/features/likes/components/like-count";
import { outfitQuery } from "@/features/outfits/api/get-outfit";
import { creatorOutfitsQuery } from "@/features/outfits/api/list-creator-outfits";
import { outfitItemsQuery } from "@/features/outfits/api/list-outfit-items";
import { relatedOutfitsQuery } from "@/features/outfits/api/list-related-outfits";
import type { Outfit, OutfitCreator } from "@/features/outfits/api/outfit";
import {
  outfitCardShape,
  outfitPictureWidth,
} from "@/features/outfits/components/outfit-card-shape";
import { OutfitCreatorLine } from "@/features/outfits/components/outfit-creator";
import { OutfitDetails } from "@/features/outfits/components/outfit-details";
import { OutfitItems } from "@/features/outfits/components/outfit-items";
import { StatusBadge } from "@/features/outfits/components/status-badge";
import { formatPrice } from "@/lib/format";
import { lazyPart } from "@/lib/lazy-part";
import { paths } from "@/lib/paths";
import { pageTitle } from "@/lib/product";
import { useSession } from "@/lib/session";
import { SubjectColumns, SubjectSkeleton, WornIn } from "./subject";

// Only for signed-in users; visitors load none of its code.
const OutfitOnUser = lazyPart(async () => ({
  default: (await import("@/app/shell/outfit-on-user")).OutfitOnUser,
}));

const SavedBy = lazyPart(async () => ({
  default: (await import("@/features/bookmarks/components/saved-by")).SavedBy,
}));

const ShareUnlisted = lazyPart(async () => ({
  default: (await import("@/app/shell/share-unlisted")).ShareUnlisted,
}));

const ReportButton = lazyPart(async () => ({
  default: (await import("@/features/reports/components/report-button")).ReportButton,
}));

/** Page of one outfit, by slug or id; the target of shared links. */
export function Look() {
  const { id = "" } = useParams();
  const { data: outfit, isPending, isLoadingError, error, refetch } = useQuery(outfitQuery(id));
  if (isPending) return <SubjectSkeleton label="Loading outfit..." />;
  if (isLoadingError) {
    return <ErrorNotice title="The outfit could not be loaded." error={error} onRetry={refetch} />;
  }
  if (outfit === null) {
    return (
      <>
        <MissingNotice
          glyph={<Shirt strokeWidth={1.3} />}
          page="Outfit not found"
          title="This outfit is no longer here."
          text="Its creator may have taken it back, or the link is incomplete."
        />
        <NewestOutfits />
      </>
    );
  }
  // A new outfit is a new page: the gallery begins at its first picture.
  return <OutfitView key={outfit.id} outfit={outfit} />;
}

function OutfitView({ outfit }: { outfit: Outfit }) {
  return (
    <>
      <title>{pageTitle(outfit.name)}</title>
      {outfit.status === "unlisted" && <meta name="robots" content="noindex" />}
      <SubjectColumns gallery={<OutfitGallery outfit={outfit} />}>
        {outfit.status !== "approved" && <StatusBadge status={outfit.status} />}
        <h1 className="font-serif text-display">{outfit.name}</h1>
        <div className="mt-4">
          <OutfitCreatorLine creator={outfit.creator} />
        </div>
        <div className="-ml-2.5 mt-2 flex items-center gap-1">
          {outfit.status !== "unlisted" && (
            <>
              <LikeButton outfitId={outfit.id} outfitName={outfit.name} variant="plain" />
              <BookmarkButton outfitId={outfit.id} outfitName={outfit.name} variant="plain" />
            </>
          )}
          <Share outfit={outfit} />
          <ReportOfOther outfit={outfit} />
          <LikeCount outfitId={outfit.id} />
          <SavesOfOwn outfit={outfit} />
        </div>
        {outfit.description !== null && (
          <p className="mt-5 max-w-prose text-ink-soft">{outfit.description}</p>
        )}
        <div className="mt-8">
          <OutfitDetails outfit={outfit} />
        </div>
        {outfit.status !== "unlisted" && <OnUser outfitId={outfit.id} />}
        <div className="mt-10">
          <OutfitItems outfit={outfit} />
        </div>
      </SubjectColumns>
      {outfit.creator?.username != null && (
        <MoreByCreator
          outfit={outfit}
          creator={outfit.creator}
          username={outfit.creator.username}
        />
      )}
      <RelatedOutfits outfit={outfit} />
    </>
  );
}

function Share({ outfit }: { outfit: Outfit }) {
  const { user } = useSession();
  const { pathname } = useLocation();
  if (outfit.status !== "unlisted") {
    return <ShareButton path={paths.outfit(outfit.slug)} name={outfit.name} />;
  }
  // An unlisted outfit is shared by the link that led here. Only its creator can open it by its name, which nobody else could.
  if (user?.id !== outfit.creator?.id) return <ShareButton path={pathname} name={outfit.name} />;
  return (
    <Suspense>
      <ShareUnlisted outfit={outfit} />
    </Suspense>
  );
}

/** Reporting an outfit of somebody else; its place is kept while the code is loaded. */
function ReportOfOther({ outfit }: { outfit: Outfit }) {
  const { user } = useSession();
  if (user !== null && user.id === outfit.creator?.id) return null;
  return (
    <span className="size-11">
      <Suspense>
        <ReportButton subject={{ kind: "outfit", id: outfit.id }} name={outfit.name} />
      </Suspense>
    </span>
  );
}

/** How many have bookmarked it, for its creator alone. */
function SavesOfOwn({ outfit }: { outfit: Outfit }) {
  const { user } = useSession();
  if (user === null || user.id !== outfit.creator?.id) return null;
  return (
    <Suspense>
      <SavedBy userId={user.id} outfitId={outfit.id} />
    </Suspense>
  );
}

/**
 * The outfit on the signed-in user. Its place is kept while the session and its code are loaded, so that what follows does
 * not move.
 */
function OnUser({ outfitId }: { outfitId: string }) {
  const { user, isLoading } = useSession();
  if (user === null && !isLoading) return null;
  return (
    <div className="mt-10 min-h-36">
      {user !== null && (
        <Suspense>
          <OutfitOnUser userId={user.id} outfitId={outfitId} />
        </Suspense>
      )}
    </div>
  );
}

function OutfitGallery({ outfit }: { outfit: Outfit }) {
  const { data: items = [], isPending } = useQuery(outfitItemsQuery(outfit));
  return (
    <Gallery
      label={`Pictures of ${outfit.name}`}
      pendingCount={isPending ? outfit.item_ids.length : 0}
      slides={[
        {
          id: outfit.id,
          url: outfit.main_image,
          alt: outfit.image_alt ?? outfit.name,
          color: outfit.main_image_color,
          width: outfitPictureWidth,
        },
        ...items
          .filter((item) => item.image !== null && item.image !== outfit.main_image)
          .map((item) => ({
            id: item.id,
            url: item.image,
            alt: item.name,
            color: item.image_color,
            width: 900,
            caption: (
              <WornIn
                to={paths.item(item.slug)}
                label={`${item.name}, ${formatPrice(item.price)}`}
              />
            ),
          })),
      ]}
    />
  );
}

interface MoreByCreatorProps {
  outfit: Outfit;
  creator: OutfitCreator;
  username: string;
}

function MoreByCreator({ outfit, creator, username }: MoreByCreatorProps) {
  const list = useInfiniteQuery(creatorOutfitsQuery(creator.id, "approved"));
  const others = list.data?.filter((other) => other.id !== outfit.id);
  return (
    <RowSection
      title={`More by @${username}`}
      more={{ to: paths.profile(username), label: "All outfits" }}
      list={{ data: others, isError: list.isError, refetch: list.refetch }}
      shape={outfitCardShape}
    >
      {(other) => <OutfitLinkCard outfit={other} />}
    </RowSection>
  );
}

function RelatedOutfits({ outfit }: { outfit: Outfit }) {
  const list = useQuery(relatedOutfitsQuery(outfit.id));
  return (
    <RowSection title="Related outfits" list={list} shape={outfitCardShape}>
      {(other) => <OutfitLinkCard outfit={other} />}
    </RowSection>
  );
}
