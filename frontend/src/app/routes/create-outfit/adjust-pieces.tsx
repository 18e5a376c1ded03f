import { Button } from "@ui/button";
import { cn } from "@ui/cn";
import { Hand } from "lucide-react";
import { type KeyboardEvent, type PointerEvent, useId, useRef, useState } from "react";
import {
  type Arrangement,
  type Box,
  composedHeight,
  composedWidth,
  type Offset,
  type Offsets,
} from "@/features/submissions/api/arrange-pieces";
import type { ComposedItem } from "@/features/submissions/api/compose-picture";
import { Composition } from "./composition";

interface AdjustPiecesProps {
  items: readonly ComposedItem[];
  arrangement: Arrangement;
  moved: Offsets;
  onMove: (moved: Offsets) => void;
}

/** Pixels of the sheet that an arrow key moves a piece by, and with the Shift key. */
const step = 12;
const largeStep = 60;

const arrows: Readonly<Record<string, Offset>> = {
  ArrowLeft: { x: -1, y: 0 },
  ArrowRight: { x: 1, y: 0 },
  ArrowUp: { x: 0, y: -1 },
  ArrowDown: { x: 0, y: 1 },
};

const unmoved: Offset = { x: 0, y: 0 };

/** A drag that is under way: the piece, and where the pointer was when it began. */
interface Drag {
  id: string;
  pointerId: number;
  from: Offset;
}

const share = (part: number, whole: number) => `${(100 * part) / whole}%`;

/** Where a piece lies: an area for the pointer that is large enough for a finger, also for a small piece. */
function areaOf({ x, y, width, height }: Box) {
  return {
    left: share(x + width / 2, composedWidth),
    top: share(y + height / 2, composedHeight),
    width: share(width, composedWidth),
    height: share(height, composedHeight),
  };
}

/** The sheet with its pieces to be moved: dragged, or with the arrow keys. */
export function AdjustPieces({ items, arrangement, moved, onMove }: AdjustPiecesProps) {
  const hint = useId();
  const sheet = useRef<HTMLDivElement>(null);
  const [boxes, setBoxes] = useState<readonly Box[]>([]);
  // A drag is kept here and stored when it ends: the draft is written with every change.
  const [drag, setDrag] = useState<Drag | null>(null);
  const [dragged, setDragged] = useState<Offset>(unmoved);
  // The sheet fills a phone's screen: a finger that scrolls the page would take a piece along.
  const [isUnlocked, setUnlocked] = useState(false);

  const withOffset = (id: string, { x, y }: Offset): Offsets => {
    const before = moved[id] ?? unmoved;
    const after = { x: Math.round(before.x + x), y: Math.round(before.y + y) };
    return { ...moved, [id]: limited(after) };
  };
  const shown = drag === null ? moved : withOffset(drag.id, dragged);

  function begin(event: PointerEvent<HTMLButtonElement>, id: string) {
    if (event.button !== 0 || drag !== null) return;
    if (event.pointerType === "touch" && !isUnlocked && isTouchScreen()) return;
    event.currentTarget.setPointerCapture(event.pointerId);
    setDragged(unmoved);
    setDrag({ id, pointerId: event.pointerId, from: { x: event.clientX, y: event.clientY } });
  }

  function follow(event: PointerEvent<HTMLButtonElement>) {
    if (drag?.pointerId !== event.pointerId) return;
    setDragged(distanceOf(event, drag));
  }

  function distanceOf({ clientX, clientY }: PointerEvent, { from }: Drag): Offset {
    const pixels = composedWidth / Math.max(1, sheet.current?.clientWidth ?? composedWidth);
    return { x: (clientX - from.x) * pixels, y: (clientY - from.y) * pixels };
  }

  function end(event: PointerEvent<HTMLButtonElement>, isKept: boolean) {
    if (drag?.pointerId !== event.pointerId) return;
    const { x, y } = distanceOf(event, drag);
    setDrag(null);
    // A tap moves nothing.
    if (isKept && Math.hypot(x, y) >= 4) onMove(withOffset(drag.id, { x, y }));
  }

  function moveByKey(event: KeyboardEvent<HTMLButtonElement>, id: string) {
    const arrow = arrows[event.key];
    if (arrow === undefined || event.altKey || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    const length = event.shiftKey ? largeStep : step;
    onMove(withOffset(id, { x: arrow.x * length, y: arrow.y * length }));
  }

  return (
    <>
      <div ref={sheet} className="relative aspect-4/5 overflow-hidden rounded-md">
        <Composition items={items} arrangement={arrangement} moved={shown} onDraw={setBoxes} />
        {items.map(({ id, name }, index) => {
          const box = boxes[index];
          return (
            box !== undefined && (
              <button
                key={id}
                type="button"
                aria-label={`Move ${name}`}
                aria-describedby={hint}
                style={areaOf(box)}
                className={cn(
                  "absolute min-h-11 min-w-11 -translate-x-1/2 -translate-y-1/2 cursor-grab touch-none rounded-md outline-offset-2 hover:outline-1 hover:outline-ink-soft focus-visible:outline-3 focus-visible:outline-accent active:cursor-grabbing",
                  isUnlocked ? "outline-1 outline-ink-soft" : "pointer-coarse:touch-auto",
                )}
                onPointerDown={(event) => begin(event, id)}
                onPointerMove={follow}
                onPointerUp={(event) => end(event, true)}
                onPointerCancel={(event) => end(event, false)}
                onKeyDown={(event) => moveByKey(event, id)}
              />
            )
          );
        })}
      </div>
      {/* Its place is there before its buttons are, so that nothing moves under a pointer. */}
      <div className="mt-3 flex min-h-11 items-center justify-between gap-3">
        <p id={hint} className="text-ink-soft text-small pointer-coarse:hidden">
          Drag the pieces, or choose one and use the arrow keys.
        </p>
        <span className="hidden pointer-coarse:block">
          <Button aria-pressed={isUnlocked} onClick={() => setUnlocked(!isUnlocked)}>
            <Hand aria-hidden="true" className="size-4" strokeWidth={1.6} />
            {isUnlocked ? "Done" : "Move the pieces"}
          </Button>
        </span>
        {Object.keys(moved).length > 0 && (
          <Button onClick={() => onMove({})}>Put everything back</Button>
        )}
      </div>
    </>
  );
}

/** Whether the page is scrolled with a finger, as by the media query of the classes above. */
function isTouchScreen(): boolean {
  return window.matchMedia("(pointer: coarse)").matches;
}

/** No farther than across the sheet: beyond that a piece would seem stuck until it was moved back as far. */
function limited({ x, y }: Offset): Offset {
  return {
    x: Math.max(-composedWidth, Math.min(x, composedWidth)),
    y: Math.max(-composedHeight, Math.min(y, composedHeight)),
  };
}
