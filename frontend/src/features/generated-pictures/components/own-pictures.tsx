import { Link } from "react-router";
import { ErrorNotice } from "@/components/ui/error-notice";
import { Skeleton } from "@/components/ui/skeleton";
import { paths } from "@/lib/paths";
import { useLivePictures } from "../api/use-live-pictures";
import { PictureCard } from "./picture-card";

/** All pictures that were made, or are being made, from the user's training photos. */
export function OwnPictures({ userId }: { userId: string }) {
  return (
    <section aria-labelledby="own-pictures-title" className="mt-14 border-line border-t pt-10">
      <h2 id="own-pictures-title" className="font-serif text-heading">
        Your Pictures
      </h2>
      <p className="mt-2 mb-7 max-w-2xl text-ink-soft text-small">
        Outfits on you, made from your training images. Only you see them.
      </p>
      <PictureList userId={userId} />
    </section>
  );
}

function PictureList({ userId }: { userId: string }) {
  const { data: pictures, isPending, error, refetch } = useLivePictures(userId);
  if (isPending) return <PictureListSkeleton />;
  if (pictures === undefined) {
    return (
      <ErrorNotice title="Your pictures could not be loaded." error={error} onRetry={refetch} />
    );
  }
  if (pictures.length === 0) {
    return (
      <p className="rounded-md border border-line border-dashed px-5 py-8 text-center text-ink-soft">
        You have no pictures yet. Open an outfit and choose “See it on you”.
      </p>
    );
  }
  return (
    <ul aria-label="Your Pictures" className="grid gap-x-5 gap-y-10 sm:grid-cols-2 lg:grid-cols-3">
      {pictures.map((picture) => (
        <li key={picture.id}>
          <h3 className="mb-3 font-serif text-name">
            {picture.outfit === null ? (
              picture.title
            ) : (
              <Link
                to={paths.outfit(picture.outfit.slug)}
                className="underline decoration-line-strong underline-offset-4 hover:decoration-ink"
              >
                {picture.title}
              </Link>
            )}
          </h3>
          <PictureCard userId={userId} picture={picture} />
        </li>
      ))}
    </ul>
  );
}

function PictureListSkeleton() {
  return (
    <div role="status" className="grid gap-5 sm:grid-cols-2 lg:grid-cols-3">
      <span className="sr-only">Loading your pictures...</span>
      {[1, 2, 3].map((place) => (
        <Skeleton key={place} className="aspect-4/5 rounded-md max-sm:nth-3:hidden" />
      ))}
    </div>
  );
}
