import { Button } from "@ui/button";
import { Suspense, useState } from "react";
import { Progress } from "@/components/ui/progress";
import { lazyPart } from "@/lib/lazy-part";
import { useCancelPicture, useDeletePicture, useRetryPicture } from "../api/change-pictures";
import { type GeneratedPicture, isInProgress } from "../api/list-pictures";
import { PictureView } from "./picture-view";

const ConfirmDialog = lazyPart(
  async () => ({
    default: (await import("@/components/ui/confirm-dialog")).ConfirmDialog,
  }),
  "overlay",
);

interface PictureCardProps {
  userId: string;
  picture: GeneratedPicture;
}

/** One picture in any state, with what can be done about it. */
export function PictureCard({ userId, picture }: PictureCardProps) {
  if (isInProgress(picture)) return <PictureInProgress userId={userId} picture={picture} />;
  return (
    <div>
      {picture.status === "succeeded" ? (
        <PictureView userId={userId} picture={picture} />
      ) : (
        <MissingPicture picture={picture} />
      )}
      <div className="mt-3 flex flex-wrap gap-2">
        {picture.status !== "succeeded" && picture.outfit !== null && (
          <RetryButton userId={userId} picture={picture} />
        )}
        <DeleteButton userId={userId} picture={picture} />
      </div>
    </div>
  );
}

function PictureInProgress({ userId, picture }: PictureCardProps) {
  const cancel = useCancelPicture(userId);
  const isRepeated = picture.status === "queued" && picture.error !== null;
  return (
    <div className="rounded-md border border-line bg-surface p-5">
      {/* Progress itself is not announced: it changes too often. */}
      <p role="status" className="font-medium">
        {picture.status === "running" ? "Your picture is being made." : "Your picture is waiting."}
      </p>
      <p className="mt-1 mb-4 text-ink-soft text-small">
        {isRepeated
          ? `${picture.error} It is tried again in a moment (attempt ${picture.attempts + 1} of ${picture.max_attempts}).`
          : "It can take several hours. You may leave this page."}
      </p>
      <Progress label={`Picture of ${picture.title}`} value={picture.progress / 100} />
      <Button
        className="mt-4"
        pending={cancel.isPending}
        onClick={() => cancel.mutate(picture.id)}
        aria-label={`Cancel the picture of ${picture.title}`}
      >
        Cancel
      </Button>
    </div>
  );
}

/** The reason why there is no picture. */
function MissingPicture({ picture }: { picture: GeneratedPicture }) {
  const isCancelled = picture.status === "cancelled";
  return (
    <div className="rounded-md border border-line bg-surface p-5">
      <p role="status" className="font-medium">
        {isCancelled ? "You cancelled this picture." : "The picture could not be made."}
      </p>
      {!isCancelled && picture.error !== null && (
        <p className="mt-1 text-ink-soft text-small">{picture.error}</p>
      )}
      {picture.outfit === null && (
        <p className="mt-1 text-ink-soft text-small">The outfit is no longer there.</p>
      )}
    </div>
  );
}

function RetryButton({ userId, picture }: PictureCardProps) {
  const retry = useRetryPicture(userId);
  return (
    <Button
      variant="primary"
      pending={retry.isPending}
      onClick={() => retry.mutate(picture.id)}
      aria-label={`Try again to make the picture of ${picture.title}`}
    >
      Try again
    </Button>
  );
}

function DeleteButton({ userId, picture }: PictureCardProps) {
  const [isAsking, setAsking] = useState(false);
  const remove = useDeletePicture(userId);
  const close = () => setAsking(false);
  return (
    <>
      <Button onClick={() => setAsking(true)} aria-label={`Delete the picture of ${picture.title}`}>
        Delete
      </Button>
      {isAsking && (
        <Suspense>
          <ConfirmDialog
            title="Delete this picture?"
            text="The picture and its file are deleted. This cannot be undone."
            confirmLabel="Delete"
            pending={remove.isPending}
            onConfirm={() => remove.mutate(picture.id, { onSettled: close })}
            onClose={close}
          />
        </Suspense>
      )}
    </>
  );
}
