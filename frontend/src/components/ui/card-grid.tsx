import {
  type CSSProperties,
  type FocusEvent,
  type ReactNode,
  useCallback,
  useEffect,
  useRef,
  useState,
  useSyncExternalStore,
} from "react";
import { type CardShape, columnClasses, columnsFor } from "./card-columns";
import { lastPlaceOf, notePlace, type Place } from "./list-places";
import { readViewport, subscribeToViewport } from "./viewport";

interface CardGridProps<Row extends { id: string }> {
  rows: readonly Row[];
  shape: CardShape;
  label: string;
  busy?: boolean;
  /** A card that stays in the DOM wherever the page is scrolled to, so that the focus can return to it. */
  pinnedId?: string | undefined;
  children: (row: Row, index: number) => ReactNode;
}

/** Rows of cards rendered above and below the viewport, so that scrolling and the Tab key find the next card in place. */
const overscanRows = 2;

/** Cards of a list that was not measured yet: more than a screen shows, so that nothing below the list is seen to move afterwards. */
const firstCards = 12;

/**
 * A grid of equal cards that renders only those near the viewport; a list may hold thousands. Cards have one size, so the place of
 * each follows from its index, and nothing is measured but the list itself. Until it is, the stylesheet places the first cards, at the
 * same places.
 */
export function CardGrid<Row extends { id: string }>({
  rows,
  shape,
  label,
  busy = false,
  pinnedId,
  children,
}: CardGridProps<Row>) {
  const [list, place] = usePlace(label);
  const { count: lanes, gap } = columnsFor(place.width);
  const cardWidth = (place.width - gap * (lanes - 1)) / lanes;
  const pitch = cardWidth * shape.ratio + shape.captionHeight + gap;
  const near = useNearLines(place, pitch);

  const [focusedId, setFocusedId] = useState<string>();
  // Kept after the modal is closed, because the focus returns to the card only then.
  const [lastPinnedId, setLastPinnedId] = useState(pinnedId);
  if (pinnedId !== undefined && pinnedId !== lastPinnedId) setLastPinnedId(pinnedId);
  const pinned = [lastPinnedId, focusedId].flatMap((id) => {
    const index = id === undefined ? -1 : rows.findIndex((row) => row.id === id);
    return index < 0 ? [] : [index];
  });
  const rememberFocus = useCallback((event: FocusEvent<HTMLUListElement>) => {
    setFocusedId(event.target.closest<HTMLElement>("[data-row-id]")?.dataset.rowId);
  }, []);

  const isMeasured = place.width > 0;
  const lines = Math.ceil(rows.length / lanes);
  const [from, to] = isMeasured ? [near.first * lanes, (near.last + 1) * lanes] : [0, firstCards];
  const shown = withPinned(from, Math.min(rows.length, to), pinned);
  const placeOf = (index: number): CSSProperties =>
    isMeasured
      ? {
          left: (index % lanes) * (cardWidth + gap),
          width: cardWidth,
          transform: `translateY(${Math.floor(index / lanes) * pitch}px)`,
        }
      : // As high as a card is meant to be, whatever stands in it.
        { height: 0, paddingBottom: `calc(${shape.ratio * 100}% + ${shape.captionHeight}px)` };
  return (
    <div className={isMeasured ? undefined : "@container"}>
      <ul
        ref={list}
        aria-label={label}
        aria-busy={busy || undefined}
        onFocus={rememberFocus}
        onBlur={() => setFocusedId(undefined)}
        className={isMeasured ? "relative w-full" : columnClasses}
        style={isMeasured ? { height: Math.max(0, lines * pitch - gap) } : undefined}
      >
        {shown.map((index) => {
          const row = rows[index];
          return (
            row !== undefined && (
              <li
                key={row.id}
                data-row-id={row.id}
                aria-setsize={rows.length}
                aria-posinset={index + 1}
                className={isMeasured ? "absolute top-0" : "min-w-0"}
                style={placeOf(index)}
              >
                {children(row, index)}
              </li>
            )
          );
        })}
      </ul>
    </div>
  );
}

/** The indexes to render, in reading order: those near the viewport, and the pinned ones. */
function withPinned(from: number, to: number, pinned: readonly number[]): number[] {
  const indexes = Array.from({ length: Math.max(0, to - from) }, (_, index) => from + index);
  if (pinned.length === 0) return indexes;
  return [...new Set([...indexes, ...pinned])].sort((a, b) => a - b);
}

/**
 * First and last line of the grid that is in or near the viewport. The component renders again only when one of them changes, not
 * with every scroll event.
 */
function useNearLines(place: Place, pitch: number): { first: number; last: number } {
  const near = useSyncExternalStore(subscribeToViewport, () => {
    if (place.width === 0) return "0 0";
    const { top, height } = readViewport();
    const above = top - place.top;
    const first = Math.max(0, Math.floor(above / pitch) - overscanRows);
    const last = Math.max(0, Math.floor((above + height) / pitch) + overscanRows);
    return `${first} ${last}`;
  });
  const [first = 0, last = 0] = near.split(" ").map(Number);
  return { first, last };
}

/** Where the list is; its width is 0 until that is known. The browser tells it when it has laid out the page anyway. */
function usePlace(label: string) {
  const list = useRef<HTMLUListElement>(null);
  const [place, setPlace] = useState<Place>(() => lastPlaceOf(label) ?? { width: 0, top: 0 });

  useEffect(() => {
    const element = list.current;
    if (element === null) return;
    const observer = new ResizeObserver(() => {
      const next = notePlace(label, element);
      setPlace((before) =>
        before.width === next.width && before.top === next.top ? before : next,
      );
    });
    observer.observe(element);
    // Content above the list may change its position without changing its size.
    observer.observe(document.body);
    return () => observer.disconnect();
  }, [label]);

  return [list, place] as const;
}

interface CardGridSkeletonProps {
  count: number;
  shape: CardShape;
  label: string;
  children: ReactNode;
}

/** Placeholders in the shape of the cards to come. `children` is the skeleton of one caption. */
export function CardGridSkeleton({ count, shape, label, children }: CardGridSkeletonProps) {
  const cards = Array.from({ length: count }, (_, index) => `card-${index}`);
  return (
    <div role="status" className="@container">
      <span className="sr-only">{label}</span>
      <div className={columnClasses}>
        {cards.map((card) => (
          <div key={card} data-testid="card-skeleton">
            <span
              aria-hidden="true"
              className="skeleton block rounded-md!"
              style={{ aspectRatio: `${1 / shape.ratio}` }}
            />
            <div style={{ height: shape.captionHeight }}>{children}</div>
          </div>
        ))}
      </div>
    </div>
  );
}
