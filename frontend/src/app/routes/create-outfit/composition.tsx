import { useEffect, useRef } from "react";
import type { Arrangement, Box, Offsets } from "@/features/submissions/api/arrange-pieces";
import type { ComposedItem } from "@/features/submissions/api/compose-picture";

interface CompositionProps {
  items: readonly ComposedItem[];
  arrangement: Arrangement;
  moved: Offsets;
  /** Told where the pieces lie, in the order of the items. */
  onDraw?: (boxes: readonly Box[]) => void;
}

/** Drawing is loaded with the first sheet that is shown. */
async function drawOn(
  canvas: HTMLCanvasElement,
  { items, ...layout }: CompositionProps,
): Promise<Box[]> {
  const { drawComposition } = await import("@/features/submissions/api/compose-picture");
  return drawComposition(canvas, items, layout);
}

/** The items' pictures on one sheet, as they will be drawn when the outfit is submitted. */
export function Composition({ items, arrangement, moved, onDraw }: CompositionProps) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const tell = useRef(onDraw);
  useEffect(() => {
    tell.current = onDraw;
  });
  // What the drawing depends on: the same items may come as other objects.
  const subject = JSON.stringify({
    items: items.map(({ id, image, name, category, subcategory }) => ({
      id,
      image,
      name,
      category,
      subcategory,
    })),
    arrangement,
    moved,
  });
  useEffect(() => {
    let isOver = false;
    // Drawn aside, because the pictures of an earlier choice may arrive after those of the present one.
    const drawn = document.createElement("canvas");
    drawOn(drawn, JSON.parse(subject)).then(
      (boxes) => {
        const shown = canvas.current;
        if (isOver || shown === null) return;
        shown.width = drawn.width;
        shown.height = drawn.height;
        shown.getContext("2d")?.drawImage(drawn, 0, 0);
        tell.current?.(boxes);
      },
      // A preview that cannot be drawn stays empty; submitting reports the failure.
      () => undefined,
    );
    return () => {
      isOver = true;
    };
  }, [subject]);
  return <canvas ref={canvas} className="size-full bg-raised" />;
}
