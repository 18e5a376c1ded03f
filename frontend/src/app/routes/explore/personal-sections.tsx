import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { Button } from "@ui/button";
import { Sparkles, UsersRound } from "lucide-react";
import { Link } from "react-router";
import { discoverySearch } from "@/app/routes/discovery/discovery-params";
import { NewestBelow } from "@/app/shell/newest-below";
import { OutfitLinkCard } from "@/app/shell/outfit-link-card";
import { RowSection } from "@/app/shell/page-section";
import { EmptyState } from "@/components/ui/empty-state";
import { ErrorNotice } from "@/components/ui/error-notice";
import { Skeleton } from "@/components/ui/skeleton";
import { followedOutfitsQuery } from "@/features/outfits/api/list-followed-outfits";
import { likedOutfitsQuery } from "@/features/outfits/api/list-saved-outfits";
import { styleOutfitsQuery } from "@/features/outfits/api/list-style-outfits";
import {
  type FrequentWord,
  frequentWordsQuery,
  suggestedOutfitsQuery,
} from "@/features/outfits/api/list-suggested-outfits";
import type { Outfit } from "@/features/outfits/api/outfit";
import { outfitCardShape } from "@/features/outfits/components/outfit-card-shape";
import { likedStyleIdsQuery } from "@/features/styles/api/liked-styles";
import { addressWord } from "@/lib/address-word";
import { paths } from "@/lib/paths";
import { pageTitle } from "@/lib/product";
import { outfitStylesQuery } from "@/lib/vocabulary";
import { ExploreLink } from "./explore-link";
import { sectionPath } from "./explore-params";
import { OutfitSection } from "./outfit-section";
import { SignedInOnly } from "./saved-sections";

export function FollowingSection() {
  return (
    <SignedInOnly title="Following" reason="Sign in to see the outfits of those whom you follow.">
      {(userId) => <OutfitsOfFollowed userId={userId} />}
    </SignedInOnly>
  );
}

function OutfitsOfFollowed({ userId }: { userId: string }) {
  const list = useInfiniteQuery(followedOutfitsQuery(userId));
  return (
    <OutfitSection
      title="Following"
      list={list}
      empty={
        <>
          <EmptyState
            followed
            glyph={<UsersRound strokeWidth={1.4} />}
            title="Follow a creator on their page, and their outfits are shown here."
            action={<ExploreLink />}
          />
          {/* With the creators to follow. */}
          <NewestBelow />
        </>
      }
    />
  );
}

export function ForYouSection() {
  return (
    <SignedInOnly title="For You" reason="Sign in to see what resembles the outfits you like.">
      {(userId) => <ForYou userId={userId} />}
    </SignedInOnly>
  );
}

/** How many of the latest liked outfits lead to others. */
const reasonCount = 3;

function ForYou({ userId }: { userId: string }) {
  return (
    <section aria-labelledby="section-title">
      <title>{pageTitle("For You")}</title>
      <h1 id="section-title" className="mb-7 font-serif text-display text-ink max-md:mb-5">
        For You
      </h1>
      <Entries />
      <Suggestions userId={userId} />
    </section>
  );
}

function Suggestions({ userId }: { userId: string }) {
  const liked = useInfiniteQuery(likedOutfitsQuery(userId));
  const styles = useQuery(likedStyleIdsQuery(userId));
  if (liked.data === undefined || styles.data === undefined) {
    const failed = [liked, styles].find(({ isLoadingError }) => isLoadingError);
    if (failed === undefined) return null;
    return (
      <ErrorNotice
        title="The suggestions could not be loaded."
        error={failed.error}
        onRetry={failed.refetch}
      />
    );
  }
  if (liked.data.length === 0 && styles.data.length === 0) {
    return (
      <EmptyState
        glyph={<Sparkles strokeWidth={1.4} />}
        title="Like an outfit, or choose styles, and what resembles them is shown here."
        action={
          <Button variant="primary" asChild>
            <Link to={paths.welcome}>Choose styles</Link>
          </Button>
        }
      />
    );
  }
  return (
    <>
      {/* The more liked outfits there are, the less the styles of the first day have to say. */}
      {styles.data.slice(0, Math.max(1, reasonCount - liked.data.length)).map((id) => (
        <InStyle key={id} styleId={id} />
      ))}
      {liked.data.slice(0, reasonCount).map((outfit) => (
        <BecauseLiked key={outfit.id} userId={userId} liked={outfit} />
      ))}
      <FollowedRow userId={userId} />
    </>
  );
}

function BecauseLiked({ userId, liked }: { userId: string; liked: Outfit }) {
  const list = useQuery(suggestedOutfitsQuery(userId, liked.id));
  return (
    <RowSection
      title={`Because you liked ${liked.name}`}
      text="They share items, styles or colors with it."
      more={{ to: paths.outfit(liked.slug), label: "See it" }}
      list={list}
      lineCount={2}
      shape={outfitCardShape}
    >
      {(outfit) => <OutfitLinkCard outfit={outfit} />}
    </RowSection>
  );
}

function InStyle({ styleId }: { styleId: string }) {
  const list = useQuery(styleOutfitsQuery(styleId));
  const { data: names } = useQuery(outfitStylesQuery());
  const name = names?.get(styleId);
  if (name === undefined) return null;
  return (
    <RowSection
      title={`Because you like ${name}`}
      text="The newest outfits in a style that you have chosen."
      more={{
        to: `${paths.discovery}${discoverySearch({ style: [addressWord(name)] })}`,
        label: "All of them",
      }}
      list={list}
      shape={outfitCardShape}
    >
      {(outfit) => <OutfitLinkCard outfit={outfit} />}
    </RowSection>
  );
}

function FollowedRow({ userId }: { userId: string }) {
  const list = useInfiniteQuery(followedOutfitsQuery(userId));
  return (
    <RowSection
      title="From creators you follow"
      text="Their newest outfits."
      more={{ to: sectionPath("following"), label: "All of them" }}
      list={list}
      shape={outfitCardShape}
    >
      {(outfit) => <OutfitLinkCard outfit={outfit} />}
    </RowSection>
  );
}

const entryKinds = [
  { kind: "style", title: "Styles and occasions" },
  { kind: "color", title: "Colors" },
  { kind: "brand", title: "Brands" },
] as const;

/** Ways into Discovery: the words that most of the newest outfits have. */
function Entries() {
  const words = useQuery(frequentWordsQuery());
  if (words.isLoadingError) {
    return (
      <div role="alert" className="flex flex-wrap items-center gap-4">
        <p className="text-ink-soft text-small">Styles and colors could not be loaded.</p>
        <Button onClick={() => words.refetch()}>Try again</Button>
      </div>
    );
  }
  return (
    // On phones each kind is one line, so that outfits are on the first screen, too.
    <div className="grid gap-x-10 gap-y-6 max-lg:grid-cols-1 lg:grid-cols-3">
      {entryKinds.map(({ kind, title }) => (
        <section key={kind} aria-labelledby={`entries-${kind}`}>
          <h2 id={`entries-${kind}`} className="mb-3 text-ink-soft text-small max-md:mb-2">
            {title}
          </h2>
          {words.data === undefined ? (
            <Skeleton className="h-24 w-full max-md:h-11" />
          ) : (
            <ul className="no-scrollbar flex gap-2 py-1 max-md:-mx-4 max-md:overflow-x-auto max-md:px-4 md:flex-wrap [&>*]:shrink-0">
              {words.data
                .filter((word) => word.kind === kind)
                .map((word) => (
                  <li key={word.name}>
                    <Entry word={word} />
                  </li>
                ))}
            </ul>
          )}
        </section>
      ))}
    </div>
  );
}

function Entry({ word }: { word: FrequentWord }) {
  return (
    <Link
      to={`${paths.discovery}${discoverySearch({ [word.kind]: [addressWord(word.name)] })}`}
      className="inline-flex h-9 items-center gap-2 rounded-full border border-line px-3.5 text-ink text-small whitespace-nowrap transition-colors hover:border-ink-soft pointer-coarse:h-11"
    >
      {word.hex_code !== null && (
        <span
          aria-hidden="true"
          className="size-3.5 rounded-full border border-line-strong/60"
          style={{ backgroundColor: word.hex_code }}
        />
      )}
      {word.name}
    </Link>
  );
}
