import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { Shirt, UserRound } from "lucide-react";
import { Link, useParams } from "react-router";
import { OutfitLinkCard } from "@/app/shell/outfit-link-card";
import { Button } from "@/components/ui/button";
import { EmptyState } from "@/components/ui/empty-state";
import { ErrorNotice } from "@/components/ui/error-notice";
import { creatorOutfitsQuery } from "@/features/outfits/api/list-creator-outfits";
import { OutfitGrid, OutfitGridSkeleton } from "@/features/outfits/components/outfit-grid";
import { StatusBadge } from "@/features/outfits/components/status-badge";
import { type PublicProfile, profileQuery } from "@/features/profiles/api/get-profile";
import {
  ProfileHeader,
  ProfileHeaderSkeleton,
} from "@/features/profiles/components/profile-header";
import { paths } from "@/lib/paths";
import { pageTitle, product } from "@/lib/product";
import { useSession } from "@/lib/session";

/** A creator's page at /{username}. */
export function PublicProfilePage() {
  const { username = "" } = useParams();
  const { data: profile, isPending, isError, error, refetch } = useQuery(profileQuery(username));
  if (isPending) {
    return (
      <>
        <ProfileHeaderSkeleton />
        <div className="mt-16">
          <OutfitGridSkeleton count={6} />
        </div>
      </>
    );
  }
  if (isError) {
    return <ErrorNotice title="The page could not be loaded." error={error} onRetry={refetch} />;
  }
  if (profile === null) return <UserNotFound username={username} />;
  return <Profile profile={profile} />;
}

function UserNotFound({ username }: { username: string }) {
  return (
    <section className="mx-auto flex min-h-[60vh] max-w-md flex-col items-center justify-center gap-4 text-center">
      <title>{pageTitle("User Not Found")}</title>
      <UserRound aria-hidden="true" className="size-8 text-ink-soft" strokeWidth={1.3} />
      <h1 className="font-serif text-title">User Not Found</h1>
      <p className="break-words text-ink-soft">The user @{username} doesn't exist.</p>
      <Button variant="primary" asChild className="mt-3">
        <Link to={paths.explore}>Go Home</Link>
      </Button>
    </section>
  );
}

function Profile({ profile }: { profile: PublicProfile }) {
  const { user } = useSession();
  const isOwner = user?.id === profile.id;
  return (
    <>
      <title>{pageTitle(profile.full_name || `@${profile.username}`)}</title>
      <ProfileHeader profile={profile} />
      <section aria-labelledby="outfits-title" className="mt-16">
        <h2 id="outfits-title" className="mb-6 font-serif text-heading">
          {isOwner ? "Your Outfits" : "Outfits"}
        </h2>
        <CreatorOutfits userId={profile.id} isOwner={isOwner} />
      </section>
      <footer className="mt-20 text-center">
        <Link
          to={paths.explore}
          className="inline-flex min-h-11 items-center gap-2 text-ink-soft text-small hover:text-ink"
        >
          Powered by <span className="font-serif text-ink text-name">{product.name}</span>
        </Link>
      </footer>
    </>
  );
}

function CreatorOutfits({ userId, isOwner }: { userId: string; isOwner: boolean }) {
  const list = useInfiniteQuery(creatorOutfitsQuery(userId, isOwner ? "everything" : "approved"));
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
    return (
      <EmptyState
        glyph={<Shirt strokeWidth={1.4} />}
        title={isOwner ? "You haven't created any outfits yet." : "No outfits yet."}
        action={
          <Button asChild>
            <Link to={paths.explore}>Explore Outfits</Link>
          </Button>
        }
      />
    );
  }
  return (
    <>
      <OutfitGrid outfits={list.data} label="Outfits">
        {(place) => (
          // Only the owner sees what waits for review or was turned down, and sees that it is so.
          <OutfitLinkCard
            place={place}
            mark={
              place.outfit.status === "approved" ? undefined : (
                <StatusBadge status={place.outfit.status} />
              )
            }
          />
        )}
      </OutfitGrid>
      {list.hasNextPage && (
        <div className="mt-10 flex justify-center">
          <Button pending={list.isFetchingNextPage} onClick={() => list.fetchNextPage()}>
            Load more
          </Button>
        </div>
      )}
    </>
  );
}
