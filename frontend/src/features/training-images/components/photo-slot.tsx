import { Button } from "@ui/button";
import { IconButton } from "@ui/icon-button";
import { Spinner } from "@ui/spinner";
import { Trash2 } from "lucide-react";
import { useRef, useState } from "react";
import { ConfirmDialog } from "@/components/ui/confirm-dialog";
import { Progress } from "@/components/ui/progress";
import { PictureError } from "@/lib/picture-file";
import { messageOf, ServiceError } from "@/lib/service-error";
import { toast } from "@/lib/toast";
import { useDeletePhoto, useUploadPhoto } from "../api/change-photos";
import type { Slot, TrainingPhoto } from "../api/list-photos";
import { acceptedPhotos, findPhotoProblem } from "../api/photo-file";
import { EmptySlot, SlotFrame } from "./photo-grid";
import { PhotoPreview } from "./photo-preview";

interface PhotoSlotProps {
  userId: string;
  slot: Slot;
  photo: TrainingPhoto | undefined;
  onRenew: () => void;
}

/** One slot with everything that can be done in it. */
export function PhotoSlot({ userId, slot, photo, onRenew }: PhotoSlotProps) {
  const input = useRef<HTMLInputElement>(null);
  const choose = useRef<HTMLButtonElement>(null);
  const upload = usePhotoUpload(userId, slot, photo);
  const again = (
    <Button
      className="max-sm:px-3"
      onClick={upload.retry}
      aria-label={`Try again to upload photo ${slot}`}
    >
      Try again
    </Button>
  );
  return (
    <>
      <SlotFrame
        slot={slot}
        corner={
          photo !== undefined &&
          !upload.isPending && (
            <DeleteButton
              userId={userId}
              photo={photo}
              onDeleted={() => choose.current?.focus({ preventScroll: true })}
            />
          )
        }
      >
        {upload.isPending ? (
          <div className="flex size-full flex-col items-center justify-center gap-2.5 p-2">
            <p className="text-caption tabular-nums">{Math.round(upload.sent * 100)} % uploaded</p>
            <Progress label={`Uploading photo ${slot}`} value={upload.sent} />
            <Button
              className="max-sm:px-3"
              onClick={upload.cancel}
              aria-label={`Cancel upload of photo ${slot}`}
            >
              Cancel
            </Button>
          </div>
        ) : photo !== undefined ? (
          // Also when another one could not be uploaded in its place.
          <PhotoPreview photo={photo} onRenew={onRenew} />
        ) : upload.interrupted !== null ? (
          <div className="flex size-full items-center justify-center p-2">{again}</div>
        ) : (
          <EmptySlot />
        )}
      </SlotFrame>
      <Button
        ref={choose}
        className="mt-2 max-sm:w-full max-sm:px-0"
        disabled={upload.isPending}
        onClick={() => input.current?.click()}
        aria-label={`${photo === undefined ? "Upload" : "Replace"} photo ${slot}`}
      >
        {photo === undefined ? "Upload" : "Replace"}
      </Button>
      {upload.interrupted !== null && (
        <>
          <p role="alert" className="mt-2 text-caption text-danger">
            {upload.interrupted}
          </p>
          {photo !== undefined && <div className="mt-2">{again}</div>}
        </>
      )}
      <input
        ref={input}
        type="file"
        accept={acceptedPhotos}
        hidden
        aria-label={`File of photo ${slot}`}
        onChange={(event) => {
          const file = event.target.files?.[0];
          // Lets the same file be chosen again.
          event.target.value = "";
          if (file !== undefined) upload.start(file);
        }}
      />
    </>
  );
}

/** The state of a slot's upload. After an interruption the file is kept, so that the next attempt continues where it stopped. */
function usePhotoUpload(userId: string, slot: Slot, replaced: TrainingPhoto | undefined) {
  const mutation = useUploadPhoto(userId, slot);
  const [sent, setSent] = useState(0);
  const [file, setFile] = useState<File | null>(null);
  const [interrupted, setInterrupted] = useState<string | null>(null);
  const abort = useRef<AbortController | null>(null);

  function start(chosen: File) {
    const problem = findPhotoProblem(chosen);
    if (problem !== undefined) {
      toast("Invalid File", problem, "danger");
      return;
    }
    abort.current = new AbortController();
    setFile(chosen);
    setSent(0);
    setInterrupted(null);
    mutation.mutate(
      { file: chosen, replaced, onProgress: setSent, signal: abort.current.signal },
      {
        onSuccess: () => toast("Upload Successful", `Photo ${slot} is saved.`, "success"),
        onError: (error) => {
          if (error.name === "AbortError") return;
          if (error instanceof PictureError) {
            toast("Invalid File", error.message, "danger");
            return;
          }
          const text = messageOf(error, "Failed to upload training image. Please try again.");
          const isAnswer = error instanceof ServiceError;
          toast(
            isAnswer ? "Upload Failed" : "Upload Error",
            isAnswer ? text : messageOf(error, "An unexpected error occurred"),
            "danger",
          );
          setInterrupted(text);
        },
      },
    );
  }

  return {
    start,
    sent,
    isPending: mutation.isPending,
    interrupted,
    retry: () => file !== null && start(file),
    cancel: () => abort.current?.abort(),
  };
}

interface DeleteButtonProps {
  userId: string;
  photo: TrainingPhoto;
  /** Moves the focus on, because this button disappears with the photo. */
  onDeleted: () => void;
}

/** Deletes after a confirmation, because it cannot be undone. */
function DeleteButton({ userId, photo, onDeleted }: DeleteButtonProps) {
  const button = useRef<HTMLButtonElement>(null);
  const [isAsking, setAsking] = useState(false);
  const remove = useDeletePhoto(userId);

  function confirm() {
    setAsking(false);
    remove.mutate(photo, {
      onSuccess: () => {
        if (document.activeElement === button.current) onDeleted();
        toast("Image Deleted", `Photo ${photo.slot} is gone.`);
      },
      onError: (error) =>
        toast(
          error instanceof ServiceError ? "Delete Failed" : "Delete Error",
          messageOf(error, "Failed to delete training image. Please try again."),
          "danger",
        ),
    });
  }

  return (
    <>
      <IconButton
        ref={button}
        label={`Delete photo ${photo.slot}`}
        variant="floating"
        busy={remove.isPending}
        onClick={() => setAsking(true)}
      >
        {remove.isPending ? (
          <Spinner size="sm" />
        ) : (
          <Trash2 className="size-4.5" strokeWidth={1.6} />
        )}
      </IconButton>
      {isAsking && (
        <ConfirmDialog
          title={`Delete photo ${photo.slot}?`}
          text="The photo is deleted for good. You can upload another one in its place."
          confirmLabel="Delete photo"
          onConfirm={confirm}
          onClose={() => setAsking(false)}
        />
      )}
    </>
  );
}
