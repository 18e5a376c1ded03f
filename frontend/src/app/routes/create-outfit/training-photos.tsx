import { useQuery } from "@tanstack/react-query";
import { slots, trainingPhotosQuery } from "@/features/training-images/api/list-photos";
import { PhotoUploader } from "@/features/training-images/components/photo-uploader";

/** The training photos that a submission needs, with their uploader. */
export function TrainingPhotos({ userId }: { userId: string }) {
  const { data: photos } = useQuery(trainingPhotosQuery(userId));
  return (
    <section aria-labelledby="photos-title">
      <h2 id="photos-title" className="font-medium text-small">
        Training photos
      </h2>
      <p role="status" className="mt-1 mb-4 text-caption text-ink-soft">
        {photos?.length === slots.length
          ? `Complete: ${slots.length} of ${slots.length} photos are uploaded.`
          : `An outfit can be submitted with exactly ${slots.length} photos. ${photos?.length ?? 0} of ${slots.length} photos are uploaded.`}
      </p>
      <PhotoUploader userId={userId} />
    </section>
  );
}
