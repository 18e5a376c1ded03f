import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { Button } from "@ui/button";
import { UserRound } from "lucide-react";
import { Suspense } from "react";
import { Link, useParams } from "react-router";
import { CreateLink } from "@/app/routes/create-outfit/create-link";
import { NewestOutfits } from "@/app/shell/newest-outfits";
import { OutfitList } from "@/app/shell/outfit-list";
import { ErrorNotice } from "@/components/ui/error-notice";
import { MissingNotice } from "@/components/ui/missing-notice";
import { creatorOutfitsQuery } from "@/features/outfits/api/list-creator-outfits";
import { OutfitGridSkeleton } from "@/features/outfits/components/outfit-grid";
import { StatusBadge } from "@/features/outfits/components/status-badge";
import { type PublicProfile, profileQuery } from "@/features/profiles/api/get-profile";
import {
  ProfileHeader,
  ProfileHeaderSkeleton,
} from "@/features/profiles/components/profile-header";
import { useWithoutBlocked } from "@/lib/blocked-people";
import { lazyPart } from "@/lib/lazy-part";
import { paths } from "@/lib/paths";
import { pageTitle, product } from "@/lib/product";
import { useSession } from "@/lib/session";

// What visitors first look at does not wait for it.
const ProfileActions = lazyPart(async () => ({
  default: (await import("@/app/shell/profile-actions")).ProfileActions,
}));

/** Public page of a creator, at /{username}. */
export function PublicProfilePage() {
  const { username = "" } = useParams();
  const {
    data: profile,
    isPending,
    isLoadingError,
    error,
    refetch,
  } = useQuery(profileQuery(username));
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
  if (isLoadingError) {
    return <ErrorNotice title="The page could not be loaded." error={error} onRetry={refetch} />;
  }
  if (profile === null) return <UserNotFound username={username} />;
  return <Profile profile={profile} />;
}

function UserNotFound({ username }: { username: string }) {
  return (
    <>
      <MissingNotice
        glyph={<UserRound strokeWidth={1.3} />}
        page="User Not Found"
        title="User Not Found"
        text={`The user @${username} doesn't exist.`}
        action="Go Home"
      />
      <NewestOutfits />
    </>
  );
}

function Profile({ profile }: { profile: PublicProfile }) {
  const { user } = useSession();
  const isOwner = user?.id === profile.id;
  return (
    <>
      <title>{pageTitle(profile.full_name || `@${profile.username}`)}</title>
      <ProfileHeader profile={profile} />
      {/* The room of two lines, while the session and the code are loaded. */}
      <div className="mt-4 flex min-h-24 flex-col items-center gap-2">
        <Suspense>
          <ProfileActions profile={profile} />
        </Suspense>
      </div>
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
  const shown = useWithoutBlocked([{ creator: { id: userId } }]);
  const list = useInfiniteQuery(creatorOutfitsQuery(userId, isOwner ? "everything" : "approved"));
  if (shown.length === 0) {
    return <p className="text-ink-soft">You have blocked this person.</p>;
  }
  return (
    <OutfitList
      list={list}
      label="Outfits"
      empty={isOwner ? "You haven't created any outfits yet." : "No outfits yet."}
      action={
        isOwner ? (
          <CreateLink first />
        ) : (
          <Button asChild>
            <Link to={paths.explore}>Explore Outfits</Link>
          </Button>
        )
      }
      // Only the owner's list holds pending and rejected outfits; they are marked.
      mark={(outfit) =>
        outfit.status === "approved" ? undefined : <StatusBadge status={outfit.status} />
      }
    />
  );
}
