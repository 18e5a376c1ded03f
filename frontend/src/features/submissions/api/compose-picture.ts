import { imageSources } from "@/lib/images";
import { encodeCanvas, PictureError } from "@/lib/picture-file";
import {
  type Arrangement,
  arrange,
  type Box,
  composedHeight,
  composedWidth,
  movePieces,
  type Offsets,
  type Size,
} from "./arrange-pieces";
import { cutOut } from "./cut-out";
import { type GarmentWords, garmentOf } from "./garment-kind";

const paper: Color = [239, 233, 224];
/** How much of the items' own color the paper takes. */
const tint = 0.32;

type Color = [red: number, green: number, blue: number];

/** At most this many items are drawn; more would be too small to see. */
export const mostComposed = 9;

async function loadPicture(url: string): Promise<HTMLImageElement> {
  const image = new Image();
  // Without this, a picture of another origin would make the canvas unreadable.
  image.crossOrigin = "anonymous";
  const { src, srcSet } = imageSources(url, 900);
  if (srcSet !== undefined) {
    image.sizes = "720px";
    image.srcset = srcSet;
  }
  image.src = src;
  await image.decode();
  return image;
}

/** An item with a picture, and the words that tell what it is. */
export interface ComposedItem extends GarmentWords {
  id: string;
  image: string;
}

/** What is drawn of an item's picture. */
interface Piece extends Size {
  picture: HTMLCanvasElement;
  /** Whether its background is gone; otherwise it is drawn as a card. */
  isCut: boolean;
  /** Average of what is left. */
  color: Color;
}

/** Longest side in pixels in which a picture is cut out. Of a larger one the page would stand still for seconds, for a smaller place. */
const mostCut = 1200;

function canvasOf(width: number, height: number): [HTMLCanvasElement, CanvasRenderingContext2D] {
  const canvas = document.createElement("canvas");
  canvas.width = width;
  canvas.height = height;
  const context = canvas.getContext("2d", { willReadFrequently: true });
  if (context === null) throw new PictureError("This browser cannot draw pictures.");
  return [canvas, context];
}

/** The average color of the pixels that are not transparent, by some thousand of them. */
function averageColor(pixels: Uint8ClampedArray): Color {
  const step = 4 * Math.max(1, Math.floor(pixels.length / 4 / 4000));
  const total = [0, 0, 0];
  let count = 0;
  for (let at = 0; at < pixels.length; at += step) {
    if ((pixels[at + 3] ?? 0) < 200) continue;
    count += 1;
    for (const channel of [0, 1, 2])
      total[channel] = (total[channel] ?? 0) + (pixels[at + channel] ?? 0);
  }
  const mean = (channel: number) => (total[channel] ?? 0) / Math.max(1, count);
  return [mean(0), mean(1), mean(2)];
}

function pieceOf(image: HTMLImageElement): Piece {
  const { naturalWidth, naturalHeight } = image;
  const scale = Math.min(1, mostCut / Math.max(naturalWidth, naturalHeight));
  const width = Math.max(1, Math.round(naturalWidth * scale));
  const height = Math.max(1, Math.round(naturalHeight * scale));
  const [whole, context] = canvasOf(width, height);
  context.drawImage(image, 0, 0, width, height);
  const pixels = context.getImageData(0, 0, width, height);
  const found = cutOut(pixels.data, width, height);
  const color = averageColor(pixels.data);
  if (found === null) return { picture: whole, isCut: false, width, height, color };
  // The thing alone: what is kept for the other arrangements takes less memory.
  const [picture, part] = canvasOf(found.width, found.height);
  part.putImageData(pixels, -found.x, -found.y);
  return { picture, isCut: true, width: found.width, height: found.height, color };
}

/** Pieces that were cut out, the latest last, so that another arrangement of them is drawn at once. */
const pieceCache = new Map<string, Promise<Piece>>();

async function cutPiece(url: string): Promise<Piece> {
  const image = await loadPicture(url);
  // Lets the page answer between two pictures, each of which takes some 30 ms.
  await new Promise<void>((resolve) => setTimeout(resolve));
  return pieceOf(image);
}

function loadPiece(url: string): Promise<Piece> {
  const piece = pieceCache.get(url) ?? cutPiece(url);
  pieceCache.delete(url);
  pieceCache.set(url, piece);
  // A failed picture is not remembered, so that another attempt loads it again.
  piece.catch(() => pieceCache.delete(url));
  for (const oldest of pieceCache.keys()) {
    if (pieceCache.size <= mostComposed) break;
    pieceCache.delete(oldest);
  }
  return piece;
}

function drawPiece(context: CanvasRenderingContext2D, { picture, isCut }: Piece, box: Box) {
  context.save();
  if (isCut) {
    context.shadowColor = "rgb(70 55 40 / 0.28)";
    context.shadowBlur = 26;
    context.shadowOffsetY = 12;
  } else {
    context.beginPath();
    context.roundRect(box.x, box.y, box.width, box.height, 28);
    context.clip();
  }
  context.drawImage(picture, box.x, box.y, box.width, box.height);
  context.restore();
}

/** How far a color is from grey; 0 for white and black, which give the paper no color. */
const vividness = (color: Color) => Math.max(...color) - Math.min(...color) + 1;

/** The paper in a light shade of the items' colors, to which the vivid ones give most. */
function paperOf(pieces: readonly Piece[]): string {
  const weights = pieces.map(({ color }) => vividness(color));
  const whole = weights.reduce((sum, weight) => sum + weight, 0);
  const mixed = ([0, 1, 2] as const).map((channel) => {
    const own = pieces.reduce(
      (sum, { color }, index) => sum + (color[channel] * (weights[index] ?? 0)) / whole,
      0,
    );
    return Math.round(paper[channel] * (1 - tint) + own * tint);
  });
  return `rgb(${mixed.join(" ")})`;
}

/** How a sheet is drawn. */
export interface SheetLayout {
  arrangement: Arrangement;
  moved: Offsets;
}

/**
 * Draws the items on one sheet, each whole and without its background, and those that were moved above the others. Returns their
 * places. Fails when a picture cannot be loaded.
 */
export async function drawComposition(
  canvas: HTMLCanvasElement,
  items: readonly ComposedItem[],
  { arrangement, moved }: SheetLayout,
): Promise<Box[]> {
  const drawn = items.slice(0, mostComposed);
  const pieces = await Promise.all(drawn.map(({ image }) => loadPiece(image)));
  canvas.width = composedWidth;
  canvas.height = composedHeight;
  const context = canvas.getContext("2d");
  if (context === null) throw new PictureError("This browser cannot draw pictures.");
  context.fillStyle = paperOf(pieces);
  context.fillRect(0, 0, composedWidth, composedHeight);
  const shapes = pieces.map(({ width, height }, index) => ({
    width,
    height,
    garment: garmentOf(drawn[index] ?? { name: "" }),
  }));
  const offsets = drawn.map(({ id }) => moved[id]);
  const boxes = movePieces(arrange(shapes, arrangement), offsets);
  const isMoved = (index: number) => offsets[index] !== undefined;
  const order = [...boxes.keys()].sort((a, b) => Number(isMoved(a)) - Number(isMoved(b)) || a - b);
  for (const index of order) {
    const [piece, box] = [pieces[index], boxes[index]];
    if (piece !== undefined && box !== undefined) drawPiece(context, piece, box);
  }
  return boxes;
}

/** More than any composed picture of the seed. */
const mostBytes = 250_000;

/** The sheet as a file of at most 250 kB: WebP, or JPEG where the browser cannot write WebP. */
export async function composePicture(
  items: readonly ComposedItem[],
  layout: SheetLayout,
): Promise<File> {
  const canvas = document.createElement("canvas");
  await drawComposition(canvas, items, layout);
  for (const quality of [0.86, 0.74, 0.6, 0.4]) {
    const blob = await encodeCanvas(canvas, undefined, quality);
    if (blob.size <= mostBytes) return new File([blob], "composed", { type: blob.type });
  }
  throw new PictureError("The picture is too large.");
}
