import { ImagePlus } from "lucide-react";
import type { ReactNode } from "react";
import { Skeleton } from "@/components/ui/skeleton";
import { type Slot, slots, type TrainingPhoto } from "../api/list-photos";
import { PhotoPreview } from "./photo-preview";

/** The three slots side by side; `children` renders one. */
export function SlotGrid({ children }: { children: (slot: Slot) => ReactNode }) {
  return (
    <ol aria-label="Training photos" className="grid max-w-3xl gap-5 sm:grid-cols-3">
      {slots.map((slot) => (
        <li key={slot} className="max-sm:mx-auto max-sm:w-full max-sm:max-w-72">
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
      <div className="aspect-4/5 overflow-hidden rounded-md border border-line bg-surface">
        {children}
      </div>
      <p className="mt-2.5 font-medium text-small">Photo {slot}</p>
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

/** The photos without any way to change them. */
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
            <Skeleton className="aspect-4/5 w-full" />
            <Skeleton className="mt-3 h-4 w-16" />
          </>
        )}
      </SlotGrid>
    </div>
  );
}
