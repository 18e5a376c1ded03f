import { ChevronLeft, ChevronRight, X } from "lucide-react";
import { Dialog } from "radix-ui";
import { type KeyboardEvent, type PointerEvent, type ReactNode, useRef } from "react";
import { EmptyState } from "@/components/ui/empty-state";
import { ErrorNotice } from "@/components/ui/error-notice";
import { IconButton } from "@/components/ui/icon-button";
import { Picture } from "@/components/ui/picture";
import { Skeleton } from "@/components/ui/skeleton";
import type { Outfit } from "../api/outfit";
import { outfitCardId } from "./outfit-card";
import { OutfitCreatorLine } from "./outfit-creator";
import { OutfitDetails } from "./outfit-details";
import { OutfitItems } from "./outfit-items";
import { ShareButton } from "./share-button";

/** What the modal has to show: an address may name an outfit that is slow, gone, or never was. */
export type ModalSubject =
  | { kind: "outfit"; outfit: Outfit }
  | { kind: "loading" }
  | { kind: "missing" }
  | { kind: "failed"; error: unknown; retry: () => void };

interface OutfitModalProps {
  subject: ModalSubject;
  /** Absent where there is nothing to go to. */
  onPrevious?: (() => void) | undefined;
  onNext?: (() => void) | undefined;
  onClose: () => void;
  /** Like and bookmark; the `l` and `b` keys press the buttons marked with `data-shortcut`. */
  actions: (outfit: Outfit) => ReactNode;
  showItems: boolean;
}

/** Fingers that travel less sideways than this wanted to tap or scroll. */
const swipeDistance = 56;

export function OutfitModal({
  subject,
  onPrevious,
  onNext,
  onClose,
  actions,
  showItems,
}: OutfitModalProps) {
  const content = useRef<HTMLDivElement>(null);
  const outfitId = subject.kind === "outfit" ? subject.outfit.id : null;
  const swipe = useSwipe({ onLeft: onNext, onRight: onPrevious });

  function handleKey(event: KeyboardEvent) {
    if (event.metaKey || event.ctrlKey || event.altKey) return;
    if (event.key === "ArrowLeft") onPrevious?.();
    else if (event.key === "ArrowRight") onNext?.();
    else if (event.key === "l" || event.key === "b") {
      content.current?.querySelector<HTMLButtonElement>(`[data-shortcut="${event.key}"]`)?.click();
    }
  }

  return (
    <Dialog.Root
      open
      onOpenChange={(open) => {
        if (!open) onClose();
      }}
    >
      <Dialog.Portal>
        <Dialog.Overlay className="fade-in fixed inset-0 z-40 bg-scrim backdrop-blur-[2px]" />
        <Dialog.Content
          ref={content}
          aria-describedby={undefined}
          onKeyDown={handleKey}
          onOpenAutoFocus={(event) => {
            // On the dialog itself: the keys work at once, and no button is chosen for anybody.
            event.preventDefault();
            content.current?.focus();
          }}
          onCloseAutoFocus={(event) => {
            // Back to the card of the outfit seen last, not to the one that opened the modal.
            const card = document.getElementById(outfitCardId(outfitId ?? ""));
            if (card === null) return;
            event.preventDefault();
            card.focus();
          }}
          className="fade-in pointer-events-none fixed inset-0 z-40 flex items-center justify-center outline-none md:p-8 lg:px-24"
        >
          {subject.kind === "outfit" || subject.kind === "loading" ? (
            <div className="pointer-events-auto relative flex h-full w-full max-w-6xl flex-col overflow-y-auto overscroll-contain bg-surface md:aspect-3/2 md:h-auto md:max-h-full md:flex-row md:overflow-hidden md:rounded-lg md:shadow-raised">
              <div
                className="relative shrink-0 touch-pan-y aspect-4/5 bg-raised max-md:max-h-[78dvh] md:h-full"
                {...swipe}
              >
                <ModalPicture subject={subject} />
              </div>
              <div className="min-w-0 flex-1 md:overflow-y-auto">
                <ModalInfo subject={subject} actions={actions} showItems={showItems} />
              </div>
            </div>
          ) : (
            <div className="pointer-events-auto flex w-full max-w-xl items-center justify-center bg-surface max-md:h-full md:rounded-lg md:shadow-raised">
              <ModalTrouble subject={subject} />
            </div>
          )}
          <Dialog.Close asChild>
            <IconButton
              label="Close"
              variant="floating"
              className="pointer-events-auto absolute top-3 right-3 md:top-5 md:right-5"
            >
              <X className="size-5" strokeWidth={1.6} />
            </IconButton>
          </Dialog.Close>
          {onPrevious !== undefined && (
            <IconButton
              label="Previous outfit"
              aria-keyshortcuts="ArrowLeft"
              variant="floating"
              onClick={onPrevious}
              size="lg"
              className="pointer-events-auto absolute max-md:top-3 max-md:left-3 md:top-1/2 md:left-5 md:-mt-6"
            >
              <ChevronLeft className="size-6" strokeWidth={1.4} />
            </IconButton>
          )}
          {onNext !== undefined && (
            <IconButton
              label="Next outfit"
              aria-keyshortcuts="ArrowRight"
              variant="floating"
              onClick={onNext}
              size="lg"
              className="pointer-events-auto absolute max-md:top-3 max-md:left-17 md:top-1/2 md:right-5 md:-mt-6"
            >
              <ChevronRight className="size-6" strokeWidth={1.4} />
            </IconButton>
          )}
        </Dialog.Content>
      </Dialog.Portal>
    </Dialog.Root>
  );
}

function ModalPicture({ subject }: { subject: Present }) {
  if (subject.kind === "loading") return <Skeleton className="size-full rounded-sm" />;
  const { outfit } = subject;
  return (
    <Picture
      key={outfit.id}
      url={outfit.main_image}
      alt={outfit.image_alt ?? outfit.name}
      sizes="(min-width: 768px) 600px, 100vw"
      width={960}
      height={1200}
      eager
      preview
      draggable={false}
      className="size-full select-none"
      transitionName="outfit-picture"
    />
  );
}

/** The outfit, or the wait for it. */
type Present = Extract<ModalSubject, { kind: "outfit" | "loading" }>;
type Trouble = Exclude<ModalSubject, Present>;

interface ModalInfoProps extends Pick<OutfitModalProps, "actions" | "showItems"> {
  subject: Present;
}

function ModalInfo({ subject, actions, showItems }: ModalInfoProps) {
  if (subject.kind === "loading") {
    return (
      <div role="status" className="p-6 md:p-10">
        <Dialog.Title className="sr-only">Loading outfit...</Dialog.Title>
        <span className="sr-only">Loading creator...</span>
        <Skeleton className="h-9 w-3/4" />
        <Skeleton className="mt-4 h-9 w-40 rounded-full" />
        <Skeleton className="mt-10 h-4 w-full" />
        <Skeleton className="mt-3 h-4 w-2/3" />
      </div>
    );
  }
  const { outfit } = subject;
  return (
    <article className="px-5 pt-6 pb-16 md:px-7 md:pt-8 md:pb-10 lg:px-10 lg:pt-12">
      <Dialog.Title className="pr-2 font-serif text-title text-ink md:pr-10">
        {outfit.name}
      </Dialog.Title>
      <div className="mt-3">
        <OutfitCreatorLine creator={outfit.creator} />
      </div>
      <div className="-ml-2.5 mt-3 flex items-center gap-1 text-ink">
        {actions(outfit)}
        <ShareButton outfit={outfit} />
      </div>
      {outfit.description !== null && (
        <p className="mt-5 max-w-prose text-body text-ink-soft">{outfit.description}</p>
      )}
      <div className="mt-7">
        <OutfitDetails outfit={outfit} />
      </div>
      {showItems && (
        <div className="mt-9">
          <OutfitItems outfit={outfit} />
        </div>
      )}
    </article>
  );
}

function ModalTrouble({ subject }: { subject: Trouble }) {
  if (subject.kind === "missing") {
    return (
      <>
        <Dialog.Title className="sr-only">Outfit not found</Dialog.Title>
        <EmptyState
          glyph={<X strokeWidth={1.4} />}
          title="This outfit is no longer here."
          action={
            <Dialog.Close className="h-11 rounded-full border border-line-strong px-5 font-medium text-small hover:border-ink">
              Explore Outfits
            </Dialog.Close>
          }
        />
      </>
    );
  }
  return (
    <>
      <Dialog.Title className="sr-only">Outfit not loaded</Dialog.Title>
      <ErrorNotice
        title="The outfit could not be loaded."
        error={subject.error}
        onRetry={subject.retry}
      />
    </>
  );
}

interface SwipeTargets {
  onLeft: (() => void) | undefined;
  onRight: (() => void) | undefined;
}

/** Sideways swipes of a finger; up and down stays scrolling. */
function useSwipe({ onLeft, onRight }: SwipeTargets) {
  const start = useRef<{ x: number; y: number } | null>(null);
  return {
    onPointerDown(event: PointerEvent) {
      start.current = event.pointerType === "touch" ? { x: event.clientX, y: event.clientY } : null;
    },
    onPointerUp(event: PointerEvent) {
      const from = start.current;
      start.current = null;
      if (from === null) return;
      const dx = event.clientX - from.x;
      if (Math.abs(dx) < swipeDistance || Math.abs(dx) < 2 * Math.abs(event.clientY - from.y))
        return;
      if (dx < 0) onLeft?.();
      else onRight?.();
    },
    onPointerCancel() {
      start.current = null;
    },
  };
}
