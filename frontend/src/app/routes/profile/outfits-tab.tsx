import { useInfiniteQuery } from "@tanstack/react-query";
import { Button } from "@ui/button";
import { Shirt } from "lucide-react";
import { Link } from "react-router";
import { CreateLink } from "@/app/routes/create-outfit/create-link";
import { OwnOutfitActions } from "@/app/shell/own-outfit-actions";
import { EmptyState } from "@/components/ui/empty-state";
import { ErrorNotice } from "@/components/ui/error-notice";
import { LoadMore } from "@/components/ui/load-more";
import { useWithoutDeleted } from "@/features/outfits/api/delete-outfit";
import { ownOutfitsQuery } from "@/features/outfits/api/list-creator-outfits";
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

/** The list, and its outfits without those that are being deleted. */
function useOwnOutfits(userId: string) {
  const outfits = useInfiniteQuery(ownOutfitsQuery(userId));
  return { outfits, shown: useWithoutDeleted(outfits.data) };
}

/** The user's outfits, each with the state of its review. */
export function OutfitsTab({ userId, list }: OutfitsTabProps) {
  const { shown } = useOwnOutfits(userId);
  return (
    <section aria-labelledby="own-outfits-title">
      <div className="mb-6 flex min-h-11 flex-wrap items-center justify-between gap-3">
        <h2 id="own-outfits-title" className="font-serif text-heading">
          {texts[list].title}
        </h2>
        {/* Below an empty list's sentence it stands alone. */}
        {shown?.length !== 0 && <CreateLink />}
      </div>
      {list === "outfits" && (
        <div className="mb-8">
          <PhotoStatus
            userId={userId}
            action={
              <Button asChild>
                <Link to={paths.trainingPhotos}>Add Training Images</Link>
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
  const { outfits, shown } = useOwnOutfits(userId);
  if (outfits.isPending) return <OutfitGridSkeleton count={6} />;
  if (shown === undefined) {
    return (
      <ErrorNotice
        title="Your outfits could not be loaded."
        error={outfits.error}
        onRetry={outfits.refetch}
      />
    );
  }
  if (shown.length === 0) {
    return (
      <EmptyState
        glyph={<Shirt strokeWidth={1.4} />}
        title="You haven't created any outfits yet."
        action={<CreateLink first />}
      />
    );
  }
  return (
    <>
      <ul
        aria-label={texts[list].title}
        className="grid grid-cols-2 gap-x-3 gap-y-8 md:grid-cols-3 md:gap-x-5 lg:grid-cols-4"
      >
        {shown.map((outfit) => (
          <li key={outfit.id}>
            <OwnOutfitCard
              outfit={outfit}
              to={paths.outfit(outfit.slug)}
              dateLabel={texts[list].date}
              capitalisesStatus={list === "submissions"}
              rejectionReason={outfit.rejection_reason}
              actions={<OwnOutfitActions userId={userId} outfit={outfit} />}
            />
          </li>
        ))}
      </ul>
      <LoadMore list={outfits} />
    </>
  );
}
