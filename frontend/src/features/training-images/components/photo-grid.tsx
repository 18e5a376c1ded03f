import { cn } from "@ui/cn";
import type { ReactNode } from "react";
import { Skeleton } from "@/components/ui/skeleton";
import { type Slot, slots, type TrainingPhoto } from "../api/list-photos";
import { PhotoPreview } from "./photo-preview";

/** The three slots beside each other, also on phones; `children` renders one. */
export function SlotGrid({ children }: { children: (slot: Slot) => ReactNode }) {
  return (
    <ol aria-label="Training photos" className="grid max-w-3xl grid-cols-3 gap-3 sm:gap-5">
      {slots.map((slot) => (
        <li key={slot} className="min-w-0">
          {children(slot)}
        </li>
      ))}
    </ol>
  );
}

interface SlotFrameProps {
  slot: Slot;
  /** Over the upper right corner of the frame. */
  corner?: ReactNode;
  children: ReactNode;
}

/** Frame of a slot with its name below. */
export function SlotFrame({ slot, corner, children }: SlotFrameProps) {
  return (
    <>
      <div className="relative">
        <div className="aspect-4/5 overflow-hidden rounded-md border border-line bg-surface">
          {children}
        </div>
        {/* Beside the frame and not in it, which would cut its focus ring. */}
        {corner && <div className="absolute top-0 right-0">{corner}</div>}
      </div>
      <p className="mt-2 font-medium text-small">Photo {slot}</p>
    </>
  );
}

/** The outline of a person in an empty slot. */
export function EmptySlot() {
  return (
    <span className="relative block size-full p-2 text-center text-caption text-ink-soft">
      <svg aria-hidden="true" viewBox="0 0 80 100" className="absolute inset-0 size-full fill-line">
        <circle cx="40" cy="52" r="12.5" />
        <path d="M13 100c0-18 11-30 27-30s27 12 27 30z" />
      </svg>
      <span className="relative">Empty slot</span>
    </span>
  );
}

interface PhotoGridProps {
  photos: readonly TrainingPhoto[];
  onRenew: () => void;
  /** Below each photo's name. */
  below?: ReactNode;
}

/** The photos, read-only. */
export function PhotoGrid({ photos, onRenew, below }: PhotoGridProps) {
  return (
    <SlotGrid>
      {(slot) => {
        const photo = photos.find((one) => one.slot === slot);
        return (
          <>
            <SlotFrame slot={slot}>
              {photo === undefined ? (
                <EmptySlot />
              ) : (
                <PhotoPreview photo={photo} onRenew={onRenew} />
              )}
            </SlotFrame>
            {below}
          </>
        );
      }}
    </SlotGrid>
  );
}

/** In place of a slot's button while it is loaded. */
export function SlotButtonSkeleton() {
  return <Skeleton className="mt-2 h-11 w-22 rounded-full!" />;
}

/** `below` is what will stand below each photo's name. */
export function PhotoGridSkeleton({ below }: { below?: ReactNode }) {
  return (
    <div role="status">
      <span className="sr-only">Loading photos...</span>
      <SlotGrid>
        {() => (
          <>
            <Skeleton className="aspect-4/5 w-full rounded-md!" />
            <span className="mt-2 flex h-5.5 items-center">
              <Skeleton className="h-3.5 w-14" />
            </span>
            {below}
          </>
        )}
      </SlotGrid>
    </div>
  );
}

/** How many of the photos are there. It has its height before that is known. */
export function PhotoCount({ photos }: { photos: readonly TrainingPhoto[] | undefined }) {
  const isComplete = photos?.length === slots.length;
  return (
    <p className="mb-3 flex h-6 items-center gap-2.5 text-small">
      <span aria-hidden="true" className="flex gap-1">
        {slots.map((slot) => (
          <span
            key={slot}
            className={cn(
              "h-1 w-6 rounded-full transition-colors",
              !photos?.some((photo) => photo.slot === slot)
                ? "bg-line"
                : isComplete
                  ? "bg-success"
                  : "bg-ink",
            )}
          />
        ))}
      </span>
      {photos !== undefined &&
        (isComplete
          ? "Complete. You can submit outfits."
          : `${photos.length} of ${slots.length} photos are uploaded.`)}
    </p>
  );
}
