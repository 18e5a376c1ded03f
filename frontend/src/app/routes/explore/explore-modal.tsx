import { useQuery } from "@tanstack/react-query";
import { Suspense, useEffect } from "react";
import { useLocation, useNavigate } from "react-router";
import { BookmarkButton } from "@/features/bookmarks/components/bookmark-button";
import { LikeButton } from "@/features/likes/components/like-button";
import { outfitQuery } from "@/features/outfits/api/get-outfit";
import type { Outfit } from "@/features/outfits/api/outfit";
import type { ModalSubject } from "@/features/outfits/components/outfit-modal";
import { lazyPart } from "@/lib/lazy-part";
import { exploreSearch, useExploreParams } from "./explore-params";
import type { OutfitListState } from "./outfit-section";

const loadModal = async () => ({
  default: (await import("@/features/outfits/components/outfit-modal")).OutfitModal,
});
const OutfitModal = lazyPart(loadModal, "overlay");

/** Loads the modal's code before it is needed, so that the first card opens without a delay. */
export function preloadModal(): void {
  // Without a network it fails; opening a card tries again and reports the error.
  loadModal().catch(() => undefined);
}

interface ExploreModalProps {
  /** The list behind the modal. Previous and next follow its order, to the end of all its pages, and wrap around. */
  list: OutfitListState;
  showItems: boolean;
}

/** The next page is read when this many outfits or fewer follow the one that is shown. */
const outfitsAhead = 3;

/** Shows the outfit that the search parameter `outfit` names, if there is one. */
export function ExploreModal(props: ExploreModalProps) {
  const { outfit } = useExploreParams();
  return outfit === null ? null : <OpenModal slugOrId={outfit} {...props} />;
}

function OpenModal({ slugOrId, list, showItems }: ExploreModalProps & { slugOrId: string }) {
  const outfits = list.data ?? [];
  const params = useExploreParams();
  const navigate = useNavigate();
  const location = useLocation();
  const index = outfits.findIndex(({ id, slug }) => slug === slugOrId || id === slugOrId);
  const listedOutfit = outfits[index];
  const single = useQuery({
    ...outfitQuery(slugOrId),
    // A shared link may name an outfit that is not on the pages loaded so far.
    enabled: listedOutfit === undefined && !list.isPending,
  });

  const { hasNextPage = false, isFetchingNextPage = false, fetchNextPage } = list;
  const isNearEnd = index >= 0 && index >= outfits.length - 1 - outfitsAhead;
  const readsOn = isNearEnd && hasNextPage && !isFetchingNextPage && !list.isFetchNextPageError;
  useEffect(() => {
    if (readsOn) fetchNextPage?.();
  }, [readsOn, fetchNextPage]);

  function showNeighbour(step: number) {
    if (index + step === outfits.length && hasNextPage) {
      // The next page is being read or has failed, and going on to the first outfit would leave it out.
      if (list.isFetchNextPageError === true) fetchNextPage?.();
      return;
    }
    const next = outfits[(index + step + outfits.length) % outfits.length];
    if (next === undefined) return;
    navigate(
      { pathname: "/", search: exploreSearch({ ...params, outfit: next.slug }) },
      { replace: true, state: location.state, preventScrollReset: true, flushSync: true },
    );
  }

  function close() {
    if (isFromGrid(location.state)) {
      navigate(-1);
      return;
    }
    navigate(
      { pathname: "/", search: exploreSearch({ ...params, outfit: null }) },
      { replace: true, preventScrollReset: true },
    );
  }

  const canStep = listedOutfit !== undefined && outfits.length > 1;
  // What comes before the first outfit is the last of all pages, which is not known before they are read.
  const canStepBack = canStep && (index > 0 || !hasNextPage);
  return (
    <Suspense>
      <OutfitModal
        subject={chooseSubject(listedOutfit, single)}
        onPrevious={canStepBack ? () => showNeighbour(-1) : undefined}
        onNext={canStep ? () => showNeighbour(1) : undefined}
        onClose={close}
        showItems={showItems}
        actions={(outfit) => (
          <>
            <LikeButton outfitId={outfit.id} outfitName={outfit.name} variant="plain" shortcut />
            <BookmarkButton
              outfitId={outfit.id}
              outfitName={outfit.name}
              variant="plain"
              shortcut
            />
          </>
        )}
      />
    </Suspense>
  );
}

interface SingleState {
  data: Outfit | null | undefined;
  isError: boolean;
  error: unknown;
  refetch: () => unknown;
}

function chooseSubject(listedOutfit: Outfit | undefined, single: SingleState): ModalSubject {
  if (listedOutfit !== undefined) return { kind: "outfit", outfit: listedOutfit };
  if (single.isError && single.data === undefined) {
    return { kind: "failed", error: single.error, retry: () => void single.refetch() };
  }
  if (single.data === undefined) return { kind: "loading" };
  return single.data === null ? { kind: "missing" } : { kind: "outfit", outfit: single.data };
}

function isFromGrid(state: unknown): boolean {
  return typeof state === "object" && state !== null && "openedFromGrid" in state;
}
