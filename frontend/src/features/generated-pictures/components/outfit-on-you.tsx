import { Button } from "@ui/button";
import { Link } from "react-router";
import { ErrorNotice } from "@/components/ui/error-notice";
import { Skeleton } from "@/components/ui/skeleton";
import { paths } from "@/lib/paths";
import { useRequestPicture } from "../api/change-pictures";
import { isInProgress } from "../api/list-pictures";
import { useLivePictures } from "../api/use-live-pictures";
import { PictureCard } from "./picture-card";

interface OutfitOnYouProps {
  userId: string;
  outfitId: string;
  /** Whether the training photos are complete; undefined until that is known. */
  hasPhotos: boolean | undefined;
}

/** The part of an outfit's page that requests a picture of the outfit on the user, and shows it. */
export function OutfitOnYou({ userId, outfitId, hasPhotos }: OutfitOnYouProps) {
  return (
    <section aria-labelledby="on-you-title">
      {/* The address of a private picture must not leave the site. */}
      <meta name="referrer" content="same-origin" />
      <h2 id="on-you-title" className="font-serif text-heading">
        See it on you
      </h2>
      <div className="mt-3">
        <OutfitPicture userId={userId} outfitId={outfitId} hasPhotos={hasPhotos} />
      </div>
    </section>
  );
}

function OutfitPicture({ userId, outfitId, hasPhotos }: OutfitOnYouProps) {
  const { data: pictures, isPending, error, refetch } = useLivePictures(userId);
  if (isPending || hasPhotos === undefined) return <OutfitPictureSkeleton />;
  if (pictures === undefined) {
    return (
      <ErrorNotice title="Your picture could not be loaded." error={error} onRetry={refetch} />
    );
  }
  const picture = pictures.find(({ combine_id }) => combine_id === outfitId);
  if (
    picture === undefined ||
    (!hasPhotos && !isInProgress(picture) && picture.status !== "succeeded")
  ) {
    return hasPhotos ? <RequestPicture userId={userId} outfitId={outfitId} /> : <PhotosMissing />;
  }
  return (
    <>
      <div className="max-w-sm">
        <PictureCard userId={userId} picture={picture} />
      </div>
      {picture.status === "succeeded" && hasPhotos && (
        <div className="mt-3">
          <RequestButton userId={userId} outfitId={outfitId} label="Make another one" />
        </div>
      )}
    </>
  );
}

function RequestPicture({ userId, outfitId }: { userId: string; outfitId: string }) {
  return (
    <>
      <p className="mb-4 max-w-prose text-ink-soft text-small">
        A picture of this outfit, made from your training images. Only you see it. It can take
        several hours.
      </p>
      <RequestButton userId={userId} outfitId={outfitId} label="Make my picture" />
    </>
  );
}

interface RequestButtonProps {
  userId: string;
  outfitId: string;
  label: string;
}

function RequestButton({ userId, outfitId, label }: RequestButtonProps) {
  const request = useRequestPicture(userId);
  return (
    <Button pending={request.isPending} onClick={() => request.mutate(outfitId)}>
      {label}
    </Button>
  );
}

function PhotosMissing() {
  return (
    <>
      <p className="mb-4 max-w-prose text-ink-soft text-small">
        Upload your 3 training images, and a picture of this outfit on you can be made.
      </p>
      <Button asChild>
        <Link to={paths.trainingPhotos}>Add Training Images</Link>
      </Button>
    </>
  );
}

function OutfitPictureSkeleton() {
  return (
    <div role="status">
      <span className="sr-only">Loading your picture...</span>
      <Skeleton className="h-4 w-3/4" />
      <Skeleton className="mt-5 h-11 w-44 rounded-full" />
    </div>
  );
}
