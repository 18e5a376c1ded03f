import { useQuery } from "@tanstack/react-query";
import { ErrorNotice } from "@/components/ui/error-notice";
import { trainingPhotosQuery } from "../api/list-photos";
import { PhotoGridSkeleton, SlotButtonSkeleton, SlotGrid } from "./photo-grid";
import { PhotoSlot } from "./photo-slot";

/** Uploads, replaces and deletes the user's three training photos. */
export function PhotoUploader({ userId }: { userId: string }) {
  const { data: photos, isPending, error, refetch } = useQuery(trainingPhotosQuery(userId));
  if (isPending) return <PhotoGridSkeleton below={<SlotButtonSkeleton />} />;
  if (photos === undefined) {
    return <ErrorNotice title="Your photos could not be loaded." error={error} onRetry={refetch} />;
  }
  return (
    <SlotGrid>
      {(slot) => (
        <PhotoSlot
          userId={userId}
          slot={slot}
          photo={photos.find((one) => one.slot === slot)}
          onRenew={() => void refetch()}
        />
      )}
    </SlotGrid>
  );
}
