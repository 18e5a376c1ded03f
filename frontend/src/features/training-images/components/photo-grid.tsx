import { ImagePlus } from "lucide-react";
import type { ReactNode } from "react";
import { Skeleton } from "@/components/ui/skeleton";
import { type Slot, slots, type TrainingPhoto } from "../api/list-photos";
import { PhotoPreview } from "./photo-preview";

/**
 * The three slots; `children` renders one. On phones each has its name and buttons beside the picture, so that all three fit on
 * one screen.
 */
export function SlotGrid({ children }: { children: (slot: Slot) => ReactNode }) {
  return (
    <ol aria-label="Training photos" className="grid max-w-3xl gap-5 sm:grid-cols-3">
      {slots.map((slot) => (
        <li
          key={slot}
          className="max-sm:grid max-sm:grid-cols-[8.5rem_1fr] max-sm:grid-rows-2 max-sm:gap-x-4"
        >
          {children(slot)}
        </li>
      ))}
    </ol>
  );
}

/** Frame of a slot with its name below. */
export function SlotFrame({ slot, children }: { slot: Slot; children: ReactNode }) {
  return (
    <>
      <div className="aspect-4/5 overflow-hidden rounded-md border border-line bg-surface max-sm:row-span-2">
        {children}
      </div>
      <p className="mt-2.5 font-medium text-small max-sm:self-end">Photo {slot}</p>
    </>
  );
}

export function EmptySlot() {
  return (
    <span className="flex size-full flex-col items-center justify-center gap-2 text-ink-soft text-small">
      <ImagePlus aria-hidden="true" className="size-7" strokeWidth={1.4} />
      Empty slot
    </span>
  );
}

interface PhotoGridProps {
  photos: readonly TrainingPhoto[];
  onRenew: () => void;
}

/** The photos, read-only. */
export function PhotoGrid({ photos, onRenew }: PhotoGridProps) {
  return (
    <SlotGrid>
      {(slot) => {
        const photo = photos.find((one) => one.slot === slot);
        return (
          <SlotFrame slot={slot}>
            {photo === undefined ? <EmptySlot /> : <PhotoPreview photo={photo} onRenew={onRenew} />}
          </SlotFrame>
        );
      }}
    </SlotGrid>
  );
}

export function PhotoGridSkeleton() {
  return (
    <div role="status">
      <span className="sr-only">Loading photos...</span>
      <SlotGrid>
        {() => (
          <>
            <Skeleton className="aspect-4/5 w-full max-sm:row-span-2" />
            <Skeleton className="mt-3 h-4 w-16 max-sm:self-end" />
          </>
        )}
      </SlotGrid>
    </div>
  );
}
