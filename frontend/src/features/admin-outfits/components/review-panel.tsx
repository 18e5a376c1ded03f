import { useQuery } from "@tanstack/react-query";
import { Button } from "@ui/button";
import { cn } from "@ui/cn";
import { type MouseEvent, useState } from "react";
import { EditDialog } from "@/components/admin/edit-dialog";
import { PanelFooter } from "@/components/admin/form-footer";
import { isSecondClick } from "@/components/admin/row-button";
import { Thumbnail } from "@/components/admin/thumbnail";
import { DetailRow, Details } from "@/components/ui/details";
import { Picture } from "@/components/ui/picture";
import { Skeleton } from "@/components/ui/skeleton";
import { itemsByIdQuery } from "@/lib/admin-items";
import { capitalise, formatDate } from "@/lib/format";
import { colorsQuery, outfitStylesQuery } from "@/lib/vocabulary";
import { type AdminOutfit, creatorName, isReviewable } from "../api/outfits";
import { hasOutfitChanged, trainingPhotosQuery, useReviewOutfit } from "../api/review";
import { OutfitStatus } from "./outfit-status";
import { PanelPart } from "./panel-part";
import { RejectDialog } from "./reject-dialog";
import { ReviewHistory } from "./review-history";
import { useReviewKeys } from "./use-review-keys";

interface ReviewPanelProps {
  outfit: AdminOutfit;
  onEdit: () => void;
  onDelete: () => void;
  onClose: () => void;
  /** After a decision that was saved: shows the next outfit that waits, or closes the panel. */
  onDecided: () => void;
  /** Shows the next outfit of the table, or the one before, without a decision. */
  onStep: (direction: 1 | -1) => void;
}

/** Everything that a decision about a submission needs: its picture, pieces, texts, and the creator's training photos. */
export function ReviewPanel(props: ReviewPanelProps) {
  const { outfit, onEdit, onDelete, onClose, onDecided, onStep } = props;
  const review = useReviewOutfit();
  const [isRejecting, setRejecting] = useState(false);
  // It stays for the next outfit: who looks closely does so at each.
  const [isLarge, setLarge] = useState(false);

  function decide(approve: boolean, reason?: string) {
    review.mutate(
      { outfit, approve, ...(reason !== undefined && { reason }) },
      {
        onSuccess: onDecided,
        onError: (error) => {
          // The panel shows an old version.
          if (hasOutfitChanged(error)) onClose();
        },
      },
    );
  }

  /** The second click of a double click comes when the next outfit stands here. */
  function approve(event: MouseEvent) {
    if (!isSecondClick(event.nativeEvent, "decision")) decide(true);
  }

  const isOpenForKeys = isReviewable(outfit) && !review.isPending && !isRejecting;
  useReviewKeys(isOpenForKeys, { a: () => decide(true), r: () => setRejecting(true) });
  useReviewKeys(!review.isPending && !isRejecting, { j: () => onStep(1), k: () => onStep(-1) });

  return (
    <EditDialog title={outfit.name} isDirty={false} wide onClose={onClose}>
      <div
        className={cn("grid items-start gap-6", !isLarge && "sm:grid-cols-[14rem_minmax(0,1fr)]")}
      >
        <button
          type="button"
          aria-label={isLarge ? "Make the picture smaller" : "Enlarge the picture"}
          onClick={() => setLarge(!isLarge)}
          className={cn(
            "rounded-md outline-offset-2",
            isLarge ? "cursor-zoom-out" : "cursor-zoom-in max-sm:max-w-52",
          )}
        >
          <Picture
            url={outfit.main_image}
            alt={outfit.image_alt ?? outfit.name}
            name={outfit.name}
            sizes={isLarge ? "(min-width: 36rem) 40rem, 92vw" : "14rem"}
            width={800}
            height={1000}
            eager
            className="aspect-4/5 w-full rounded-md"
          />
        </button>
        <Details>
          <DetailRow term="Status">
            <OutfitStatus outfit={outfit} />
          </DetailRow>
          <DetailRow term="Creator">{creatorName(outfit)}</DetailRow>
          <DetailRow term="Submitted">{formatDate(outfit.created_at)}</DetailRow>
          <DetailRow term="Changed">{formatDate(outfit.updated_at)}</DetailRow>
          <DetailRow term="Gender">{capitalise(outfit.gender)}</DetailRow>
          <Vocabulary outfit={outfit} />
          {outfit.description !== null && <DetailRow term="Text">{outfit.description}</DetailRow>}
          {outfit.rejection_reason !== null && (
            <DetailRow term="Reason">{outfit.rejection_reason}</DetailRow>
          )}
        </Details>
      </div>
      <div className="pb-6">
        {!outfit.created_by_admin && <ReviewHistory outfit={outfit} />}
        <OutfitPieces itemIds={outfit.item_ids} />
        {outfit.user_id !== null && !outfit.created_by_admin && (
          <TrainingPhotos userId={outfit.user_id} />
        )}
      </div>
      <PanelFooter>
        {isReviewable(outfit) && (
          <>
            <Button
              variant="primary"
              pending={review.isPending}
              aria-keyshortcuts="a"
              onClick={approve}
              className="max-sm:px-4"
            >
              Approve
            </Button>
            <Button
              aria-keyshortcuts="r"
              onClick={() => setRejecting(true)}
              className="max-sm:px-4"
            >
              Reject
            </Button>
          </>
        )}
        {!isReviewable(outfit) && !outfit.created_by_admin && (
          <Button
            pending={review.isPending}
            onClick={outfit.status === "rejected" ? approve : () => setRejecting(true)}
            className="max-sm:px-4"
          >
            {outfit.status === "rejected" ? "Approve" : "Take offline"}
          </Button>
        )}
        <Button onClick={onEdit} className="max-sm:px-4">
          Edit
        </Button>
        <Button variant="quiet" onClick={onDelete} className="max-sm:px-3">
          Delete
        </Button>
      </PanelFooter>
      {isRejecting && (
        <RejectDialog
          subject={outfit.name}
          ids={[outfit.id]}
          isPublished={outfit.status !== "pending"}
          pending={review.isPending}
          onReject={(reason) => decide(false, reason)}
          onCancel={() => setRejecting(false)}
        />
      )}
    </EditDialog>
  );
}

/** The names of the outfit's styles and colors. */
function Vocabulary({ outfit }: { outfit: AdminOutfit }) {
  const { data: styles } = useQuery(outfitStylesQuery());
  const { data: colors } = useQuery(colorsQuery());
  const styleNames = outfit.outfit_styles.flatMap((id) => styles?.get(id) ?? []);
  const colorNames = outfit.colors.flatMap((id) => colors?.get(id)?.name ?? []);
  return (
    <>
      {styleNames.length > 0 && <DetailRow term="Styles">{styleNames.join(", ")}</DetailRow>}
      {colorNames.length > 0 && <DetailRow term="Colors">{colorNames.join(", ")}</DetailRow>}
    </>
  );
}

function OutfitPieces({ itemIds }: { itemIds: readonly string[] }) {
  const { data: items, isError } = useQuery(itemsByIdQuery(itemIds));
  return (
    <PanelPart title={`Items (${itemIds.length})`}>
      {isError && <p className="text-danger text-small">The items could not be loaded.</p>}
      <ul className="grid gap-2 sm:grid-cols-2">
        {items === undefined && !isError
          ? itemIds.map((id) => (
              <li key={id}>
                <Skeleton className="h-10 w-full" />
              </li>
            ))
          : items?.map((item) => (
              <li key={item.id} className="flex items-center gap-3 text-small">
                <Thumbnail url={item.image} name={item.name} />
                <span className="min-w-0">
                  <span className="block truncate">{item.name}</span>
                  <span className="block truncate text-caption text-ink-soft">
                    {item.brand.name}
                  </span>
                </span>
              </li>
            ))}
      </ul>
    </PanelPart>
  );
}

function TrainingPhotos({ userId }: { userId: string }) {
  const { data: photos, isError, refetch } = useQuery(trainingPhotosQuery(userId));
  return (
    <PanelPart title="Training photos of the creator">
      {isError && (
        <p className="flex items-center gap-3 text-danger text-small">
          The photos could not be loaded.
          <Button onClick={() => void refetch()}>Try again</Button>
        </p>
      )}
      {photos?.length === 0 && <p className="text-ink-soft text-small">There are none.</p>}
      <ul className="grid grid-cols-3 gap-2">
        {photos === undefined && !isError
          ? [1, 2, 3].map((slot) => (
              <li key={slot}>
                <Skeleton className="aspect-3/4 w-full" />
              </li>
            ))
          : photos?.map(({ slot, url }) => (
              <li key={slot}>
                {url === null ? (
                  <span className="flex aspect-3/4 w-full items-center justify-center rounded-md border border-line text-caption text-ink-soft">
                    Photo {slot} is missing
                  </span>
                ) : (
                  <img
                    src={url}
                    alt={`Slot ${slot}`}
                    referrerPolicy="same-origin"
                    className="aspect-3/4 w-full rounded-md border border-line bg-raised object-cover"
                  />
                )}
              </li>
            ))}
      </ul>
    </PanelPart>
  );
}
