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
  /** Above the items, scrolled with them. It is lower than the {@link overscan}, so the lines in view need not know of it. */
  header?: ReactNode;
}

/**
 * Items to choose from, in a scrolling area. Only the lines near its window are in the DOM, and further pages are loaded
 * while scrolling, so a catalogue may have thousands.
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
  const width = useWidth(area);
  const { columns, cellWidth, lineHeight } = measurePicker(width);
  const lineCount = width === 0 ? 0 : Math.ceil(items.length / columns);
  const [focusedId, setFocusedId] = useState<string>();
  const focusedIndex = items.findIndex(({ id }) => id === focusedId);
  const focusedLine = focusedIndex < 0 ? undefined : Math.floor(focusedIndex / columns);

  // Every line has the same height, so the lines in view follow from the scroll position.
  const [scroll, setScroll] = useState<ScrollPosition>({ top: 0, height: 600 });
  const linesInView = findLinesInView(scroll, lineHeight);
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
      onScroll={({ currentTarget }) => {
        const current = { top: currentTarget.scrollTop, height: currentTarget.clientHeight };
        // React renders nothing when the state is the same object, so only a scroll that brings another line into view costs time.
        setScroll((before) => (haveSameLines(before, current, lineHeight) ? before : current));
      }}
      className={cn(
        pickerArea,
        "overflow-y-auto overscroll-contain transition-opacity",
        busy && header === undefined && "opacity-60",
      )}
    >
      {header}
      <ul
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

interface ScrollPosition {
  top: number;
  height: number;
}

/** The first line that can be seen, and the one after the last. */
function findLinesInView({ top, height }: ScrollPosition, lineHeight: number) {
  return { first: Math.floor(top / lineHeight), end: Math.ceil((top + height) / lineHeight) };
}

function haveSameLines(a: ScrollPosition, b: ScrollPosition, lineHeight: number): boolean {
  const [before, after] = [findLinesInView(a, lineHeight), findLinesInView(b, lineHeight)];
  return before.first === after.first && before.end === after.end;
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
    <div role="status" className={cn(pickerArea, "overflow-hidden")}>
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
