import { useQuery } from "@tanstack/react-query";
import { Button } from "@ui/button";
import { LoadingPage } from "@ui/spinner";
import { Suspense, useState } from "react";
import { ErrorNotice } from "@/components/ui/error-notice";
import { slots, trainingPhotosQuery } from "@/features/training-images/api/list-photos";
import {
  PhotoCount,
  PhotoGrid,
  PhotoGridSkeleton,
  SlotButtonSkeleton,
} from "@/features/training-images/components/photo-grid";
import { lazyPart } from "@/lib/lazy-part";

const OwnPictures = lazyPart(async () => ({
  default: (await import("@/features/generated-pictures/components/own-pictures")).OwnPictures,
}));

// Looking at the photos needs neither dialogs nor uploads.
const PhotoUploader = lazyPart(async () => ({
  default: (await import("@/features/training-images/components/photo-uploader")).PhotoUploader,
}));

/** The three training photos, to look at and, after a click, to change; below them the pictures made from them. */
export function TrainingImagesTab({ userId }: { userId: string }) {
  const [isEditing, setEditing] = useState(false);
  return (
    <>
      <section aria-labelledby="training-images-title">
        <div className="mb-6 flex flex-wrap items-end justify-between gap-x-8 gap-y-4">
          <div className="max-w-2xl">
            <h2 id="training-images-title" className="font-serif text-heading">
              Training Images
            </h2>
            <p className="mt-2 text-ink-soft text-small">
              Upload exactly {slots.length} photos of yourself. They are private: only you and the
              administrators of this site can see them, your personalised pictures are made from
              them, and they are never shown on your page.
            </p>
          </div>
          <Button
            variant={isEditing ? "secondary" : "primary"}
            className="max-sm:w-full"
            onClick={() => setEditing(!isEditing)}
          >
            {isEditing ? "Done Editing" : "Edit Training Images"}
          </Button>
        </div>
        <Photos userId={userId} isEditing={isEditing} />
      </section>
      <Suspense fallback={<LoadingPage />}>
        <OwnPictures userId={userId} />
      </Suspense>
    </>
  );
}

function Photos({ userId, isEditing }: { userId: string; isEditing: boolean }) {
  const { data: photos, isPending, error, refetch } = useQuery(trainingPhotosQuery(userId));
  const renew = () => void refetch();
  const below = isEditing && <SlotButtonSkeleton />;
  if (photos === undefined && !isPending) {
    return <ErrorNotice title="Your photos could not be loaded." error={error} onRetry={renew} />;
  }
  // The photos stay where they are while the code of the buttons is loaded.
  const shown =
    photos === undefined ? (
      <PhotoGridSkeleton below={below} />
    ) : (
      <PhotoGrid photos={photos} onRenew={renew} below={below} />
    );
  return (
    <>
      <PhotoCount photos={photos} />
      {isEditing ? (
        <Suspense fallback={shown}>
          <PhotoUploader userId={userId} />
        </Suspense>
      ) : (
        shown
      )}
    </>
  );
}
