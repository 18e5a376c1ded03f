import { useInfiniteQuery } from "@tanstack/react-query";
import { Shirt } from "lucide-react";
import { Link } from "react-router";
import { ExploreLink } from "@/app/routes/explore/explore-link";
import { Button } from "@/components/ui/button";
import { EmptyState } from "@/components/ui/empty-state";
import { ErrorNotice } from "@/components/ui/error-notice";
import { LoadMore } from "@/components/ui/load-more";
import { creatorOutfitsQuery } from "@/features/outfits/api/list-creator-outfits";
import { OutfitGridSkeleton } from "@/features/outfits/components/outfit-grid";
import { OwnOutfitCard } from "@/features/outfits/components/own-outfit-card";
import { PhotoStatus } from "@/features/training-images/components/photo-status";
import { paths } from "@/lib/paths";

const texts = {
  outfits: { title: "My Outfits", date: "Created" },
  submissions: { title: "Your Outfit Submissions", date: "Submitted" },
} as const;

interface OutfitsTabProps {
  userId: string;
  list: keyof typeof texts;
}

/** What the user has made, with the state of its review. */
export function OutfitsTab({ userId, list }: OutfitsTabProps) {
  return (
    <section aria-labelledby="own-outfits-title">
      <h2 id="own-outfits-title" className="mb-6 font-serif text-heading">
        {texts[list].title}
      </h2>
      {list === "outfits" && (
        <div className="mb-8">
          <PhotoStatus
            userId={userId}
            action={
              <Button asChild>
                <Link to={`${paths.myProfile}?tab=training-images`}>Add Training Images</Link>
              </Button>
            }
          />
        </div>
      )}
      <OwnOutfits userId={userId} list={list} />
    </section>
  );
}

function OwnOutfits({ userId, list }: OutfitsTabProps) {
  const outfits = useInfiniteQuery(creatorOutfitsQuery(userId, "everything"));
  if (outfits.isPending) return <OutfitGridSkeleton count={6} />;
  if (outfits.data === undefined) {
    return (
      <ErrorNotice
        title="Your outfits could not be loaded."
        error={outfits.error}
        onRetry={outfits.refetch}
      />
    );
  }
  if (outfits.data.length === 0) {
    return (
      <EmptyState
        glyph={<Shirt strokeWidth={1.4} />}
        title="You haven't created any outfits yet."
        action={<ExploreLink />}
      />
    );
  }
  return (
    <>
      <ul
        aria-label={texts[list].title}
        className="grid grid-cols-2 gap-x-3 gap-y-8 md:grid-cols-3 md:gap-x-5 lg:grid-cols-4"
      >
        {outfits.data.map((outfit) => (
          <li key={outfit.id}>
            <OwnOutfitCard
              outfit={outfit}
              to={paths.outfit(outfit.slug)}
              dateLabel={texts[list].date}
              capitalisesStatus={list === "submissions"}
            />
          </li>
        ))}
      </ul>
      <LoadMore list={outfits} />
    </>
  );
}
