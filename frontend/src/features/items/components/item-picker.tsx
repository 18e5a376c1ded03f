import { cn } from "@ui/cn";
import { Check, Plus } from "lucide-react";
import {
  memo,
  type ReactNode,
  useCallback,
  useEffect,
  useLayoutEffect,
  useRef,
  useState,
} from "react";
import type { PagedList } from "@/components/ui/load-more";
import { Picture } from "@/components/ui/picture";
import { Skeleton } from "@/components/ui/skeleton";
import { formatPrice } from "@/lib/format";
import type { PickableItem } from "../api/list-pickable-items";
import { itemCardShape, itemPictureWidth } from "./item-card-shape";
import {
  contentWidth,
  eagerPickerLines,
  emptyPickerArea,
  measurePicker,
  pickerArea,
  pickerGap,
  pickerPictureSizes,
} from "./item-picker-shape";

/** The next page is fetched when this many lines or fewer are left below those in view. */
const linesAhead = 2;
/** Lines rendered above and below the window, so that scrolling and the Tab key find the next one in place. */
const overscan = 2;

interface ItemPickerProps {
  items: readonly PickableItem[];
  list: PagedList;
  label: string;
  busy: boolean;
  chosenIds: ReadonlySet<string>;
  onToggle: (item: PickableItem, chosen: boolean) => void;
  /** What stands above the items and is scrolled with them. */
  header?: ReactNode;
}

/**
 * Items to choose from, in a frame that scrolls, and on phones in the page. Only the lines near what is in view are in the DOM, and
 * further pages are loaded while scrolling, so a catalogue may have thousands.
 */
export function ItemPicker({
  items,
  list,
  label,
  busy,
  chosenIds,
  onToggle,
  header,
}: ItemPickerProps) {
  const area = useRef<HTMLDivElement>(null);
  const cards = useRef<HTMLUListElement>(null);
  const width = useWidth(area);
  const { columns, cellWidth, lineHeight } = measurePicker(width);
  const lineCount = width === 0 ? 0 : Math.ceil(items.length / columns);
  const [focusedId, setFocusedId] = useState<string>();
  const focusedIndex = items.findIndex(({ id }) => id === focusedId);
  const focusedLine = focusedIndex < 0 ? undefined : Math.floor(focusedIndex / columns);

  const linesInView = useLinesInView(area, cards, width === 0 ? null : lineHeight);
  const firstLine = Math.max(0, linesInView.first - overscan);
  const endOfWindow = linesInView.end;
  const lastLine = Math.min(lineCount - 1, endOfWindow + overscan);
  const lines = Array.from(
    { length: Math.max(0, lastLine - firstLine + 1) },
    (_, at) => firstLine + at,
  );
  // The line with the focus stays in the DOM wherever the area is scrolled to, or the keyboard would lose its place.
  if (focusedLine !== undefined && !lines.includes(focusedLine)) lines.push(focusedLine);
  lines.sort((a, b) => a - b);

  const { hasNextPage, isFetchingNextPage, isFetchNextPageError, fetchNextPage } = list;
  const wantsMore = lineCount > 0 && endOfWindow >= lineCount - linesAhead;
  useEffect(() => {
    // After a failure only the button below sends the request again; here it would be repeated without end.
    if (wantsMore && hasNextPage && !isFetchingNextPage && !isFetchNextPageError) fetchNextPage();
  }, [wantsMore, hasNextPage, isFetchingNextPage, isFetchNextPageError, fetchNextPage]);

  return (
    <div
      ref={area}
      className={cn(
        pickerArea,
        "transition-opacity md:overflow-y-auto md:overscroll-contain",
        busy && header === undefined && "opacity-60",
      )}
    >
      {header}
      <ul
        ref={cards}
        aria-label={label}
        aria-busy={busy || undefined}
        className="relative"
        style={{ height: Math.max(0, lineCount * lineHeight - pickerGap) }}
        onFocus={(event) =>
          setFocusedId(event.target.closest<HTMLElement>("[data-item-id]")?.dataset.itemId)
        }
        onBlur={() => setFocusedId(undefined)}
      >
        {lines.flatMap((line) =>
          items.slice(line * columns, (line + 1) * columns).map((item, column) => (
            <li
              key={item.id}
              data-item-id={item.id}
              aria-posinset={line * columns + column + 1}
              aria-setsize={hasNextPage ? -1 : items.length}
              className="absolute top-0"
              style={{
                left: column * (cellWidth + pickerGap),
                width: cellWidth,
                transform: `translateY(${line * lineHeight}px)`,
              }}
            >
              <PickerCard
                item={item}
                eager={line < eagerPickerLines}
                chosen={chosenIds.has(item.id)}
                onToggle={onToggle}
              />
            </li>
          )),
        )}
      </ul>
    </div>
  );
}

interface Lines {
  /** The first line that can be seen. */
  first: number;
  /** The line after the last one that can be seen. */
  end: number;
}

/** Lines on a screen that has not been measured yet. */
const firstLines: Lines = { first: 0, end: eagerPickerLines };

/** The lines in the part of the frame that is on the screen. All have the same height, so they follow from where the list begins. */
function findLinesInView(area: HTMLElement, list: HTMLElement, lineHeight: number): Lines {
  const frame = area.getBoundingClientRect();
  const top = Math.max(frame.top, 0) - list.getBoundingClientRect().top;
  const bottom = top + Math.min(frame.bottom, window.innerHeight) - Math.max(frame.top, 0);
  // The page may be scrolled to where nothing of the list is seen.
  const first = Math.max(0, Math.floor(top / lineHeight));
  return { first, end: Math.max(first, Math.ceil(bottom / lineHeight)) };
}

/** The {@link findLinesInView} while frame and page are scrolled. */
function useLinesInView(
  area: React.RefObject<HTMLElement | null>,
  list: React.RefObject<HTMLElement | null>,
  lineHeight: number | null,
): Lines {
  const [lines, setLines] = useState(firstLines);
  useLayoutEffect(() => {
    function update(): void {
      // Before the width is known, lines have no height.
      if (lineHeight === null || area.current === null || list.current === null) return;
      const next = findLinesInView(area.current, list.current, lineHeight);
      // React renders nothing when the state is the same object, so only a scroll that brings another line into view costs time.
      setLines((before) =>
        before.first === next.first && before.end === next.end ? before : next,
      );
    }
    update();
    // A frame's scroll does not bubble, but passes the window on its way down.
    const options = { capture: true, passive: true };
    window.addEventListener("scroll", update, options);
    window.addEventListener("resize", update, options);
    // More items make the list longer below what is in view, and what is above it may change without a scroll.
    const observer = new ResizeObserver(update);
    for (const element of [list.current, document.body]) {
      if (element !== null) observer.observe(element);
    }
    return () => {
      observer.disconnect();
      window.removeEventListener("scroll", update, options);
      window.removeEventListener("resize", update, options);
    };
  }, [area, list, lineHeight]);
  return lines;
}

interface PickerCardProps {
  item: PickableItem;
  eager: boolean;
  chosen: boolean;
  onToggle: (item: PickableItem, chosen: boolean) => void;
}

/**
 * The button does not contain the picture, because its accessible name should only say what it adds. Memoized, because
 * most cards stay the same when a line comes into view.
 */
const PickerCard = memo(function PickerCard({ item, eager, chosen, onToggle }: PickerCardProps) {
  return (
    <div>
      <Picture
        url={item.image}
        alt=""
        sizes={pickerPictureSizes}
        width={itemPictureWidth}
        height={itemPictureWidth * itemCardShape.ratio}
        placeholderColor={item.image_color}
        eager={eager}
        className={cn(
          "aspect-4/5 w-full rounded-md",
          chosen && "outline-2 outline-ink outline-offset-2",
        )}
      />
      <p className="mt-2 truncate text-small">{item.name}</p>
      <p className="truncate text-caption text-ink-soft">
        <span className="text-ink tabular-nums">{formatPrice(item.price)}</span> {item.brand.name}
      </p>
      <button
        type="button"
        aria-label={chosen ? `Added ${item.name}, remove it` : `Add ${item.name}`}
        onClick={() => onToggle(item, !chosen)}
        className={cn(
          "mt-1.5 inline-flex h-11 w-full items-center justify-center gap-2 rounded-full border text-small transition-colors",
          chosen
            ? "border-ink bg-ink text-canvas"
            : "border-line-strong/60 text-ink hover:border-ink hover:bg-sheen",
        )}
      >
        {chosen ? (
          <Check aria-hidden="true" className="size-4" strokeWidth={1.8} />
        ) : (
          <Plus aria-hidden="true" className="size-4" strokeWidth={1.8} />
        )}
        {chosen ? "Added" : "Add"}
      </button>
    </div>
  );
});

/** Width of an element's content in pixels; 0 until it is measured. */
function useWidth(element: React.RefObject<HTMLElement | null>): number {
  const [width, setWidth] = useState(0);
  const measure = useCallback(() => {
    if (element.current !== null) setWidth(contentWidth(element.current));
  }, [element]);
  useLayoutEffect(() => {
    measure();
    if (element.current === null) return;
    const observer = new ResizeObserver(measure);
    observer.observe(element.current);
    return () => observer.disconnect();
  }, [element, measure]);
  return width;
}

/** Placeholders of the first items. */
export function ItemPickerSkeleton() {
  return (
    <div role="status" className={cn(emptyPickerArea, "overflow-hidden")}>
      <span className="sr-only">Loading items...</span>
      <div aria-hidden="true" className="grid grid-cols-2 gap-3 md:grid-cols-3 lg:grid-cols-4">
        {["a", "b", "c", "d", "e", "f", "g", "h"].map((card) => (
          <div key={card} data-testid="item-skeleton">
            <Skeleton className="aspect-4/5 w-full rounded-md!" />
            <Skeleton className="mt-3 h-4 w-3/4" />
            <Skeleton className="mt-2 h-3 w-1/3" />
            <Skeleton className="mt-3 h-11 rounded-full!" />
          </div>
        ))}
      </div>
    </div>
  );
}
