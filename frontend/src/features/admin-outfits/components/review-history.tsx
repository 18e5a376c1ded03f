import { useQuery } from "@tanstack/react-query";
import { Button } from "@ui/button";
import { Skeleton } from "@/components/ui/skeleton";
import { formatDate } from "@/lib/format";
import { type AdminOutfit, isReviewable, statusLabels } from "../api/outfits";
import { type PastReview, reviewHistoryQuery } from "../api/review-history";
import { OutfitChangesList } from "./outfit-changes";
import { PanelPart } from "./panel-part";

/** Earlier reviews of a submission, and the creator's changes since then. */
export function ReviewHistory({ outfit }: { outfit: AdminOutfit }) {
  const { data: reviews, isLoadingError, refetch } = useQuery(reviewHistoryQuery(outfit.id));
  if (isLoadingError) {
    return (
      <PanelPart title="Earlier reviews">
        <p className="flex items-center gap-3 text-danger text-small">
          The earlier reviews could not be loaded.
          <Button onClick={() => void refetch()}>Try again</Button>
        </p>
      </PanelPart>
    );
  }
  if (reviews === undefined) {
    return (
      <PanelPart title="Earlier reviews">
        <Skeleton className="h-10 w-full" />
      </PanelPart>
    );
  }
  const [last] = reviews;
  if (last === undefined) {
    return (
      <PanelPart title="Earlier reviews">
        <p className="text-ink-soft text-small">There are none.</p>
      </PanelPart>
    );
  }
  return (
    <>
      {isReviewable(outfit) && (
        <PanelPart title="Changed since the last review">
          <OutfitChangesList before={last} outfit={outfit} />
        </PanelPart>
      )}
      <PanelPart title={`Earlier reviews (${reviews.length})`}>
        <ol className="flex flex-col gap-3">
          {reviews.map((review) => (
            <ReviewEntry key={review.id} review={review} />
          ))}
        </ol>
      </PanelPart>
    </>
  );
}

function ReviewEntry({ review }: { review: PastReview }) {
  const { decision, reason, decided_at, decider } = review;
  return (
    <li className="text-small">
      <span className="font-medium">{statusLabels[decision]}</span>{" "}
      <span className="text-ink-soft">
        {formatDate(decided_at)} by {decider?.username ?? "an unknown account"}
      </span>
      {decision === "rejected" && (
        <p className="mt-0.5 text-ink-soft [overflow-wrap:anywhere]">
          {reason ?? "No reason was given."}
        </p>
      )}
    </li>
  );
}
