import { type ReactNode, useLayoutEffect, useMemo, useRef, useState } from "react";

export interface MasonryTile {
  key: string;
  /** Height over width of the picture. */
  ratio: number;
}

interface MasonryProps<Tile extends MasonryTile> {
  tiles: readonly Tile[];
  /** Pixels under each picture, for the caption. */
  captionHeight: number;
  label: string;
  busy?: boolean;
  children: (tile: Tile, index: number) => ReactNode;
}

/** Columns and gutter for a container of this width: 2 on phones, 3 on tablets, up to 5 above. */
export function columnsFor(width: number): { count: number; gap: number } {
  if (width < 600) return { count: 2, gap: 12 };
  if (width < 940) return { count: 3, gap: 16 };
  if (width < 1340) return { count: 4, gap: 20 };
  return { count: 5, gap: 20 };
}

interface Placed {
  left: number;
  top: number;
}

/** Puts each tile on the column that is shortest so far: the order of reading stays the order of the list. */
export function placeTiles(
  tiles: readonly MasonryTile[],
  width: number,
  captionHeight: number,
): { tileWidth: number; height: number; places: Placed[] } {
  const { count, gap } = columnsFor(width);
  const tileWidth = (width - gap * (count - 1)) / count;
  const heights = new Array<number>(count).fill(0);
  const places = tiles.map((tile) => {
    const shortest = Math.min(...heights);
    // Half a pixel of slack, so that rounding never sends a tile to the right of an equal column.
    const column = heights.findIndex((height) => height <= shortest + 0.5);
    const top = heights[column] ?? 0;
    heights[column] = top + tileWidth * tile.ratio + captionHeight + gap;
    return { left: column * (tileWidth + gap), top };
  });
  return { tileWidth, height: Math.max(0, ...heights), places };
}

/** A masonry whose places are computed, so that the DOM keeps the reading order. */
export function Masonry<Tile extends MasonryTile>({
  tiles,
  captionHeight,
  label,
  busy = false,
  children,
}: MasonryProps<Tile>) {
  const container = useRef<HTMLUListElement>(null);
  const [width, setWidth] = useState(0);

  useLayoutEffect(() => {
    const element = container.current;
    if (element === null) return;
    setWidth(element.clientWidth);
    const observer = new ResizeObserver(() => setWidth(element.clientWidth));
    observer.observe(element);
    return () => observer.disconnect();
  }, []);

  const { tileWidth, height, places } = useMemo(
    () => placeTiles(tiles, width, captionHeight),
    [tiles, width, captionHeight],
  );

  return (
    <ul
      ref={container}
      aria-label={label}
      aria-busy={busy || undefined}
      className="relative w-full"
      style={{ height: width === 0 ? "100vh" : height }}
    >
      {width > 0 &&
        tiles.map((tile, index) => (
          <li key={tile.key} className="absolute" style={{ ...places[index], width: tileWidth }}>
            {children(tile, index)}
          </li>
        ))}
    </ul>
  );
}
