import { useQuery } from "@tanstack/react-query";
import { Button } from "@ui/button";
import { useId, useState } from "react";
import { slots, trainingPhotosQuery } from "@/features/training-images/api/list-photos";
import { PhotoUploader } from "@/features/training-images/components/photo-uploader";

/** The training photos that a submission needs: in one line when all are there, else with their uploader. */
export function TrainingPhotos({ userId }: { userId: string }) {
  const { data: photos, isPending } = useQuery(trainingPhotosQuery(userId));
  const [isOpen, setOpen] = useState(false);
  const uploaderId = useId();
  const isComplete = photos?.length === slots.length;
  // What was shown because a photo is missing stays when the last one has arrived: nothing folds away under a pointer.
  if (!isPending && !isComplete && !isOpen) setOpen(true);
  return (
    <section aria-labelledby="photos-title">
      <div className="flex min-h-15 flex-wrap items-center gap-x-4 gap-y-3">
        <div className="min-w-0 flex-1 basis-56">
          <h2 id="photos-title" className="font-medium text-small">
            Training photos
          </h2>
          <p role="status" className="mt-1 text-caption text-ink-soft">
            {isPending
              ? "Loading photos..."
              : isComplete
                ? `Complete: ${slots.length} of ${slots.length} photos are uploaded.`
                : `An outfit can be submitted with exactly ${slots.length} photos. ${photos?.length ?? 0} of ${slots.length} photos are uploaded.`}
          </p>
        </div>
        {isComplete && (
          <>
            {!isOpen && (
              <span className="flex gap-1.5">
                {photos.map(({ slot, url }) => (
                  <span key={slot} className="h-15 w-12 overflow-hidden rounded-sm bg-surface">
                    {/* What they show is private. */}
                    {url !== null && <img src={url} alt="" className="size-full object-cover" />}
                  </span>
                ))}
              </span>
            )}
            <Button
              aria-expanded={isOpen}
              aria-controls={uploaderId}
              onClick={() => setOpen(!isOpen)}
            >
              {isOpen ? "Done" : "Change"}
            </Button>
          </>
        )}
      </div>
      <div id={uploaderId} className={isOpen ? "mt-4" : undefined}>
        {isOpen && <PhotoUploader userId={userId} />}
      </div>
    </section>
  );
}
