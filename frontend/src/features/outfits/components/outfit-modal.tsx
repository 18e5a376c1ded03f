import { IconButton } from "@ui/icon-button";
import { keyName } from "@ui/keys";
import { ChevronLeft, ChevronRight, X } from "lucide-react";
import { Dialog } from "radix-ui";
import { type KeyboardEvent, type PointerEvent, type ReactNode, useRef } from "react";
import { ShareButton } from "@/components/share-button";
import { EmptyState } from "@/components/ui/empty-state";
import { ErrorNotice } from "@/components/ui/error-notice";
import { Picture } from "@/components/ui/picture";
import { Skeleton } from "@/components/ui/skeleton";
import { paths } from "@/lib/paths";
import { pageTitle } from "@/lib/product";
import type { Outfit } from "../api/outfit";
import { outfitCardId } from "./outfit-card";
import { OutfitCreatorLine } from "./outfit-creator";
import { OutfitDetails } from "./outfit-details";
import { OutfitItems } from "./outfit-items";

/** Content of the modal. The address may name an outfit that is still loading, does not exist, or failed to load. */
export type ModalSubject =
  | { kind: "outfit"; outfit: Outfit }
  | { kind: "loading" }
  | { kind: "missing" }
  | { kind: "failed"; error: unknown; retry: () => void };

interface OutfitModalProps {
  subject: ModalSubject;
  /** Absent when the list has no other outfit. */
  onPrevious?: (() => void) | undefined;
  onNext?: (() => void) | undefined;
  onClose: () => void;
  /** Like and bookmark buttons. The keys `l` and `b` press those with a matching `data-shortcut`. */
  actions: (outfit: Outfit) => ReactNode;
  showItems: boolean;
}

/** Pixels of horizontal movement below which a touch is a tap or a scroll. */
const minSwipePx = 56;

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
    const key = keyName(event);
    if (key === "ArrowLeft") onPrevious?.();
    else if (key === "ArrowRight") onNext?.();
    else if (key === "l" || key === "b") {
      content.current?.querySelector<HTMLButtonElement>(`[data-shortcut="${key}"]`)?.click();
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
            // Focus the dialog instead of its first button, so that the keys work and no button looks chosen.
            event.preventDefault();
            content.current?.focus();
          }}
          onCloseAutoFocus={(event) => {
            // Focus the card of the outfit shown last, which need not be the one that opened the modal.
            const card = document.getElementById(outfitCardId(outfitId ?? ""));
            if (card === null) return;
            event.preventDefault();
            card.focus();
          }}
          className="fade-in pointer-events-none fixed inset-0 z-40 flex items-center justify-center outline-none lg:px-24 lg:py-8"
        >
          {subject.kind === "outfit" || subject.kind === "loading" ? (
            <div className="pointer-events-auto relative flex h-full w-full max-w-6xl flex-col overflow-y-auto overscroll-contain bg-surface lg:aspect-3/2 lg:h-auto lg:max-h-full lg:flex-row lg:overflow-hidden lg:rounded-lg lg:shadow-raised">
              {/* Never taller than 78 % of a small screen, and then narrower: cropping would cut off hats and shoes. */}
              <div
                className="relative shrink-0 touch-pan-y aspect-4/5 bg-raised max-lg:w-[min(100%,62.4dvh)] max-lg:self-center lg:h-full"
                {...swipe}
              >
                <ModalPicture subject={subject} />
                {/* At the sides of the picture, and gone with it: over the text they would be in the way. */}
                <div className="lg:hidden">
                  <Arrows onPrevious={onPrevious} onNext={onNext} />
                </div>
              </div>
              <div className="min-w-0 flex-1 lg:overflow-y-auto">
                <ModalInfo subject={subject} actions={actions} showItems={showItems} />
              </div>
            </div>
          ) : (
            <div className="pointer-events-auto flex w-full max-w-xl items-center justify-center bg-surface max-lg:h-full lg:rounded-lg lg:shadow-raised">
              <ModalNotice subject={subject} />
            </div>
          )}
          <Dialog.Close asChild>
            <IconButton
              label="Close"
              variant="floating"
              className="pointer-events-auto absolute top-3 right-3 lg:top-5 lg:right-5"
            >
              <X className="size-5" strokeWidth={1.6} />
            </IconButton>
          </Dialog.Close>
          <div className="max-lg:hidden">
            <Arrows onPrevious={onPrevious} onNext={onNext} />
          </div>
        </Dialog.Content>
      </Dialog.Portal>
    </Dialog.Root>
  );
}

/** The buttons of the outfits before and after this one, at the sides of what they are in. */
function Arrows({ onPrevious, onNext }: Pick<OutfitModalProps, "onPrevious" | "onNext">) {
  return (
    <>
      {onPrevious !== undefined && (
        <IconButton
          label="Previous outfit"
          aria-keyshortcuts="ArrowLeft"
          variant="floating"
          onClick={onPrevious}
          size="lg"
          className="pointer-events-auto absolute top-1/2 left-2 -mt-6 lg:left-5"
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
          className="pointer-events-auto absolute top-1/2 right-2 -mt-6 lg:right-5"
        >
          <ChevronRight className="size-6" strokeWidth={1.4} />
        </IconButton>
      )}
    </>
  );
}

function ModalPicture({ subject }: { subject: PresentSubject }) {
  if (subject.kind === "loading") return <Skeleton className="size-full rounded-sm" />;
  const { outfit } = subject;
  return (
    <Picture
      key={outfit.id}
      url={outfit.main_image}
      alt={outfit.image_alt ?? outfit.name}
      name={outfit.name}
      sizes="(min-width: 1024px) 600px, 100vw"
      width={1200}
      height={1500}
      placeholderColor={outfit.main_image_color}
      eager
      preview
      draggable={false}
      className="size-full select-none"
      transitionName="outfit-picture"
    />
  );
}

/** Subjects with the full layout: the outfit, or its skeleton. */
type PresentSubject = Extract<ModalSubject, { kind: "outfit" | "loading" }>;
/** Subjects that are explained in a small panel. */
type AbsentSubject = Exclude<ModalSubject, PresentSubject>;

interface ModalInfoProps extends Pick<OutfitModalProps, "actions" | "showItems"> {
  subject: PresentSubject;
}

function ModalInfo({ subject, actions, showItems }: ModalInfoProps) {
  if (subject.kind === "loading") {
    return (
      <div role="status" className="p-6 lg:p-10">
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
    <article className="px-5 pt-6 pb-16 lg:px-10 lg:pt-12 lg:pb-10">
      {/* React puts the title mounted last first, so it wins over the section's until the modal closes. */}
      <title>{pageTitle(outfit.name)}</title>
      <Dialog.Title className="pr-2 font-serif text-title text-ink lg:pr-10">
        {outfit.name}
      </Dialog.Title>
      <div className="mt-3">
        <OutfitCreatorLine creator={outfit.creator} />
      </div>
      <div className="-ml-2.5 mt-3 flex items-center gap-1 text-ink">
        {actions(outfit)}
        <ShareButton path={paths.outfit(outfit.slug)} name={outfit.name} />
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

function ModalNotice({ subject }: { subject: AbsentSubject }) {
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

/** Pointer handlers for horizontal swipes by touch; vertical movement still scrolls. */
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
      if (Math.abs(dx) < minSwipePx || Math.abs(dx) < 2 * Math.abs(event.clientY - from.y)) return;
      if (dx < 0) onLeft?.();
      else onRight?.();
    },
    onPointerCancel() {
      start.current = null;
    },
  };
}
