import { useInfiniteQuery } from "@tanstack/react-query";
import { Button } from "@ui/button";
import { LoadingPage } from "@ui/spinner";
import { Heart, Shirt } from "lucide-react";
import type { ReactNode } from "react";
import { Link, useLocation } from "react-router";
import { CreateLink } from "@/app/routes/create-outfit/create-link";
import { OwnOutfitActions } from "@/app/shell/own-outfit-actions";
import { EmptyState } from "@/components/ui/empty-state";
import { useWithoutDeleted } from "@/features/outfits/api/delete-outfit";
import { creatorOutfitsQuery } from "@/features/outfits/api/list-creator-outfits";
import { likedOutfitsQuery } from "@/features/outfits/api/list-saved-outfits";
import { StatusBadge } from "@/features/outfits/components/status-badge";
import { paths, type ReturnState } from "@/lib/paths";
import { pageTitle } from "@/lib/product";
import { useSession } from "@/lib/session";
import { ExploreLink } from "./explore-link";
import { OutfitSection } from "./outfit-section";

export function LikesSection() {
  return (
    <SignedInOnly title="Your Liked Outfits" reason="Sign in to see the outfits you like.">
      {(userId) => <LikesOf userId={userId} />}
    </SignedInOnly>
  );
}

function LikesOf({ userId }: { userId: string }) {
  const list = useInfiniteQuery(likedOutfitsQuery(userId));
  return (
    <OutfitSection
      title="Your Liked Outfits"
      list={list}
      empty={
        <EmptyState
          glyph={<Heart strokeWidth={1.4} />}
          title="You haven't liked any outfits yet."
          action={<ExploreLink />}
        />
      }
    />
  );
}

export function MyOutfitsSection() {
  return (
    <SignedInOnly title="My outfits" reason="Sign in to see the outfits you have made.">
      {(userId) => <OutfitsOf userId={userId} />}
    </SignedInOnly>
  );
}

function OutfitsOf({ userId }: { userId: string }) {
  const list = useInfiniteQuery(creatorOutfitsQuery(userId, "everything"));
  const shown = useWithoutDeleted(list.data);
  return (
    <OutfitSection
      title="My outfits"
      list={{ ...list, data: shown }}
      mark={(outfit) => <StatusBadge status={outfit.status} />}
      actions={(outfit) => <OwnOutfitActions userId={userId} outfit={outfit} variant="floating" />}
      empty={
        <EmptyState
          glyph={<Shirt strokeWidth={1.4} />}
          title="You haven't created any outfits yet."
          action={<CreateLink first />}
        />
      }
    />
  );
}

interface SignedInOnlyProps {
  title: string;
  /** Why the visitor should sign in. */
  reason: string;
  children: (userId: string) => ReactNode;
}

/** A section that needs a signed-in user; visitors see an invitation to sign in. */
export function SignedInOnly({ title, reason, children }: SignedInOnlyProps) {
  const { user, isLoading } = useSession();
  const location = useLocation();
  if (isLoading) return <LoadingPage />;
  if (user !== null) return children(user.id);
  const state: ReturnState = { from: `${location.pathname}${location.search}` };
  return (
    <section aria-labelledby="section-title">
      <title>{pageTitle(title)}</title>
      <h1 id="section-title" className="font-serif text-display text-ink">
        {title}
      </h1>
      <EmptyState
        glyph={<Heart strokeWidth={1.4} />}
        title={reason}
        action={
          <Button variant="primary" asChild>
            <Link to={paths.auth} state={state}>
              Sign In
            </Link>
          </Button>
        }
      />
    </section>
  );
}
