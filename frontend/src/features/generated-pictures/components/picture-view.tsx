import { useQuery } from "@tanstack/react-query";
import { Button } from "@ui/button";
import { ErrorNotice } from "@/components/ui/error-notice";
import { Skeleton } from "@/components/ui/skeleton";
import { type GeneratedPicture, pictureAddressesQuery } from "../api/list-pictures";

interface PictureViewProps {
  userId: string;
  picture: GeneratedPicture;
}

/** A finished picture by its signed address, with what it is, and a link to save it. */
export function PictureView({ userId, picture }: PictureViewProps) {
  const addresses = useQuery(pictureAddressesQuery(userId, picture));
  if (addresses.isPending) return <Skeleton className="aspect-4/5 w-full rounded-md" />;
  if (addresses.data === undefined) {
    return (
      <ErrorNotice
        title="The picture could not be shown."
        error={addresses.error}
        onRetry={addresses.refetch}
      />
    );
  }
  const { shown, download } = addresses.data;
  const isPreview = picture.result_is_preview === true;
  return (
    <figure>
      <div className="relative aspect-4/5 overflow-hidden rounded-md bg-surface">
        <img
          src={shown}
          alt={
            isPreview ? `Preview of ${picture.title} with your photo` : `${picture.title} on you`
          }
          className="size-full object-contain"
          onError={() => void addresses.refetch()}
        />
        {isPreview && (
          <span className="absolute top-3 left-3 rounded-full bg-canvas/85 px-3 py-1 text-ink text-label">
            Preview
          </span>
        )}
      </div>
      <figcaption className="mt-3 text-ink-soft text-small">
        {isPreview && <p>Your photo next to the items. It does not show you wearing them.</p>}
        <Button asChild className="mt-3">
          <a href={download} aria-label={`Download the picture of ${picture.title}`}>
            Download
          </a>
        </Button>
      </figcaption>
    </figure>
  );
}
