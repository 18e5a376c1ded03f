import { useQuery } from "@tanstack/react-query";
import { CircleAlert, CircleCheck } from "lucide-react";
import type { ReactNode } from "react";
import { Skeleton } from "@/components/ui/skeleton";
import { slots, trainingPhotosQuery } from "../api/list-photos";

interface PhotoStatusProps {
  userId: string;
  /** The action for an incomplete set. */
  action: ReactNode;
}

/** A card that says whether all training photos are uploaded, which outfits need to be submitted. */
export function PhotoStatus({ userId, action }: PhotoStatusProps) {
  const { data: photos, isError } = useQuery(trainingPhotosQuery(userId));
  // The tab of the photos shows the error and offers a retry.
  if (isError && photos === undefined) return null;
  if (photos === undefined) return <Skeleton className="h-24 w-full max-w-3xl" />;
  const isComplete = photos.length === slots.length;
  return (
    <div className="flex max-w-3xl items-start gap-4 rounded-md border border-line bg-surface px-5 py-4 sm:items-center">
      {isComplete ? (
        <CircleCheck
          aria-hidden="true"
          className="size-6 shrink-0 text-success"
          strokeWidth={1.6}
        />
      ) : (
        <CircleAlert
          aria-hidden="true"
          className="size-6 shrink-0 text-ink-soft"
          strokeWidth={1.6}
        />
      )}
      <div className="flex min-w-0 flex-1 flex-wrap items-center gap-x-5 gap-y-3">
        <div className="min-w-0 flex-1 basis-56">
          <p className="font-medium">
            Training images: {photos.length} of {slots.length}
          </p>
          <p className="text-ink-soft text-small">
            {isComplete
              ? "Your training images are complete. You can submit outfits."
              : "Upload exactly 3 training images to submit outfits."}
          </p>
        </div>
        {!isComplete && action}
      </div>
    </div>
  );
}
