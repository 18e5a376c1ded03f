// Where the pieces of an outfit lie on its sheet. The result follows from the pieces alone, so it is the same on every device.

import { type Garment, type GarmentKind, garmentKinds } from "./garment-kind";

/** Size of a composed picture in pixels: 4:5, as every outfit's. */
export const composedWidth = 1200;
export const composedHeight = 1500;
const gap = 44;

/** Ways to lay an outfit out, the first one unless another is chosen. */
export const arrangements = ["laid", "worn", "even"] as const;
export type Arrangement = (typeof arrangements)[number];

export const arrangementLabels: Readonly<Record<Arrangement, string>> = {
  laid: "Laid out",
  worn: "As worn",
  even: "Side by side",
};

export interface Size {
  width: number;
  height: number;
}

export interface Box extends Size {
  x: number;
  y: number;
}

/** How far a piece was moved from its place, in pixels of the sheet. */
export interface Offset {
  x: number;
  y: number;
}

/** Moved pieces by the ids of their items. */
export type Offsets = Readonly<Record<string, Offset>>;

/** The cut-out of an item: its size in pixels, and what it is. */
export interface ArrangedPiece extends Size {
  garment: Garment;
}

/** A small picture is enlarged by this factor at most, because it would look blurred. */
const maxEnlargement = 1.6;

/** The size of a piece next to the others, in centimetres. */
function naturalSize({ width, height, garment }: ArrangedPiece): Size {
  const scale = garment.length / Math.max(width, height);
  return { width: width * scale, height: height * scale };
}

/** Columns of places in the list of pieces, from left to right and from top to bottom. */
type Columns = readonly (readonly number[])[];

const sum = (values: readonly number[]) => values.reduce((whole, value) => whole + value, 0);

/** Pixels of a centimetre when these columns fill the sheet. */
function fitColumns(columns: Columns, sizes: readonly Size[]): number {
  const widths = columns.map((column) =>
    Math.max(...column.map((place) => sizes[place]?.width ?? 0)),
  );
  const heights = columns.map(
    (column) =>
      (composedHeight - gap * (column.length + 1)) /
      sum(column.map((place) => sizes[place]?.height ?? 0)),
  );
  return Math.min((composedWidth - gap * (columns.length + 1)) / sum(widths), ...heights);
}

/** The places of the pieces in these columns, at their relative sizes, with the room that is left spread between them. */
function place(columns: Columns, pieces: readonly ArrangedPiece[]): Box[] {
  const sizes = pieces.map(naturalSize);
  const scale = fitColumns(columns, sizes);
  const drawn = pieces.map((piece, index): Size => {
    const natural = sizes[index] ?? piece;
    const own = Math.min(scale, (piece.width * maxEnlargement) / natural.width);
    return { width: natural.width * own, height: natural.height * own };
  });
  const sizeAt = (index: number) => drawn[index] ?? { width: 0, height: 0 };
  const widths = columns.map((column) => Math.max(...column.map((at) => sizeAt(at).width)));
  const across = (composedWidth - sum(widths)) / (columns.length + 1);
  const boxes: Box[] = [];
  let left = across;
  columns.forEach((column, index) => {
    const width = widths[index] ?? 0;
    const down =
      (composedHeight - sum(column.map((at) => sizeAt(at).height))) / (column.length + 1);
    let top = down;
    for (const at of column) {
      const size = sizeAt(at);
      boxes[at] = { ...size, x: left + (width - size.width) / 2, y: top };
      top += size.height + down;
    }
    left += width + across;
  });
  return boxes;
}

const rankOf = ({ garment }: ArrangedPiece) => garmentKinds.indexOf(garment.kind);

/** Places of the pieces from the head to the feet. */
function byRank(pieces: readonly ArrangedPiece[]): number[] {
  const places = pieces.map((_, index) => index);
  return places.sort((a, b) => {
    const [one, other] = [pieces[a], pieces[b]];
    return one === undefined || other === undefined ? 0 : rankOf(one) - rankOf(other) || a - b;
  });
}

const mostColumns = 3;

/** All ways to spread the pieces over up to three columns, each from the head to the feet; mirrored ones count once. */
function* spreads(order: readonly number[]): Generator<number[][]> {
  const columns: number[][] = [];
  function* put(next: number): Generator<number[][]> {
    const piece = order[next];
    if (piece === undefined) {
      yield columns.map((column) => [...column]);
      return;
    }
    for (let at = 0; at < Math.min(columns.length + 1, mostColumns); at += 1) {
      if (at === columns.length) columns.push([]);
      columns[at]?.push(piece);
      yield* put(next + 1);
      columns[at]?.pop();
      if (columns[at]?.length === 0) columns.pop();
    }
  }
  yield* put(0);
}

/** How good a spread is: large pieces, columns of one height, and the top above what is worn below it. */
function scoreOf(columns: Columns, sizes: readonly Size[], kinds: readonly GarmentKind[]): number {
  const scale = fitColumns(columns, sizes);
  const heights = columns.map((column) =>
    sum(column.map((at) => (sizes[at]?.height ?? 0) * scale)),
  );
  const evenness = sum(heights) / (Math.max(...heights) * heights.length);
  const isDressed = columns.some((column) =>
    column.some((at, index) => kinds[at] === "top" && kinds[column[index + 1] ?? -1] === "bottom"),
  );
  return scale * (0.6 + 0.4 * evenness) * (isDressed ? 1.12 : 1);
}

/** Kinds by the column in which they belong: coats at the left, clothes beside them, the rest at the right. */
const sideOf: Readonly<Record<GarmentKind, number>> = {
  outerwear: 0,
  top: 1,
  dress: 1,
  bottom: 1,
  hat: 2,
  scarf: 2,
  other: 2,
  bag: 3,
  small: 3,
  shoes: 3,
};

function layDown(pieces: readonly ArrangedPiece[]): Box[] {
  const sizes = pieces.map(naturalSize);
  const kinds = pieces.map(({ garment }) => garment.kind);
  let best: { columns: Columns; score: number } | undefined;
  for (const columns of spreads(byRank(pieces))) {
    const score = scoreOf(columns, sizes, kinds);
    if (best === undefined || score > best.score) best = { columns, score };
  }
  const sideOfColumn = (column: readonly number[]) =>
    Math.min(...column.map((at) => sideOf[kinds[at] ?? "other"]));
  const columns = [...(best?.columns ?? [])].sort((a, b) => sideOfColumn(a) - sideOfColumn(b));
  return place(columns, pieces);
}

/** What is worn on the body, in the middle; of each kind the first one. */
const body: readonly GarmentKind[] = ["hat", "scarf", "top", "dress", "bottom", "shoes"];

function dress(pieces: readonly ArrangedPiece[]): Box[] {
  const order = byRank(pieces);
  const kindOfPiece = (at: number) => pieces[at]?.garment.kind ?? "other";
  const middle = body.flatMap((kind) => order.filter((at) => kindOfPiece(at) === kind).slice(0, 1));
  const [left, right]: [number[], number[]] = [[], []];
  for (const at of order.filter((one) => !middle.includes(one))) {
    const isLeft = kindOfPiece(at) === "outerwear" || left.length < right.length;
    (isLeft ? left : right).push(at);
  }
  return place(
    [left, middle, right].filter((column) => column.length > 0),
    pieces,
  );
}

/** Where each of `count` pictures has its place in a grid, in their order. */
function layOut(count: number, columns: number): Box[] {
  const sizes = Array.from({ length: columns }, () => Math.floor(count / columns));
  // The last columns take one more each, so that the first picture is the largest.
  for (let rest = count % columns, at = columns - 1; rest > 0; rest -= 1, at -= 1) {
    sizes[at] = (sizes[at] ?? 0) + 1;
  }
  const width = (composedWidth - gap * (columns + 1)) / columns;
  return sizes.flatMap((rows, column) => {
    const height = (composedHeight - gap * (rows + 1)) / rows;
    return Array.from({ length: rows }, (_, row) => ({
      x: gap + column * (width + gap),
      y: gap + row * (height + gap),
      width,
      height,
    }));
  });
}

/** Where a whole picture is drawn in the middle of its place. */
function fitInto({ width, height }: Size, box: Box): Box {
  const scale = Math.min(box.width / width, box.height / height, maxEnlargement);
  const drawn = { width: width * scale, height: height * scale };
  return {
    x: box.x + (box.width - drawn.width) / 2,
    y: box.y + (box.height - drawn.height) / 2,
    ...drawn,
  };
}

/** The grid in which these pictures together are largest: tall ones side by side, wide ones below each other. */
function lineUp(pieces: readonly ArrangedPiece[]): Box[] {
  const choices = Array.from({ length: Math.min(mostColumns, pieces.length) }, (_, index) =>
    layOut(pieces.length, index + 1).map((box, at) => fitInto(pieces[at] ?? box, box)),
  );
  const areaOf = (boxes: readonly Box[]) =>
    sum(boxes.map(({ width, height }) => Math.sqrt(width * height)));
  return choices.reduce((best, one) => (areaOf(one) > areaOf(best) ? one : best), choices[0] ?? []);
}

/** The place of each piece on the sheet. */
export function arrange(pieces: readonly ArrangedPiece[], arrangement: Arrangement): Box[] {
  if (pieces.length === 0) return [];
  if (arrangement === "even") return lineUp(pieces);
  return arrangement === "worn" ? dress(pieces) : layDown(pieces);
}

/** How near to the border of the sheet a piece is moved. */
const leastMargin = 20;

/** The places of pieces that were moved by hand; each stays whole on the sheet. */
export function movePieces(boxes: readonly Box[], offsets: readonly (Offset | undefined)[]): Box[] {
  const within = (value: number, size: number, whole: number) =>
    Math.max(leastMargin, Math.min(value, whole - size - leastMargin));
  return boxes.map((box, index) => {
    const offset = offsets[index];
    if (offset === undefined) return box;
    return {
      ...box,
      x: within(box.x + offset.x, box.width, composedWidth),
      y: within(box.y + offset.y, box.height, composedHeight),
    };
  });
}
