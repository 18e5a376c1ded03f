import { imageSources } from "@/lib/images";
import { encodeCanvas } from "@/lib/picture-file";
import { type Bounds, cutOut } from "./cut-out";

/** Size of a composed picture in pixels: 4:5, as every outfit's. */
export const composedWidth = 1200;
export const composedHeight = 1500;
const gap = 44;
const paper = "#efe9e0";

export interface Box {
  x: number;
  y: number;
  width: number;
  height: number;
}

/** How many pictures stand in each of the columns. */
function columnSizes(count: number, columns: number): number[] {
  const sizes = Array.from({ length: columns }, () => Math.floor(count / columns));
  // The last columns take one more each, so that the first picture is the largest.
  for (let rest = count % columns, at = columns - 1; rest > 0; rest -= 1, at -= 1) {
    sizes[at] = (sizes[at] ?? 0) + 1;
  }
  return sizes;
}

/** Where each of `count` pictures has its place on the sheet, in their order. */
export function layOut(count: number, columns: number): Box[] {
  const sizes = columnSizes(count, columns);
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

interface Size {
  width: number;
  height: number;
}

/** Pictures are enlarged by no more than this. */
const mostScale = 1.6;

/** Where a whole picture is drawn in the middle of its place. */
export function fitInto({ width, height }: Size, box: Box): Box {
  const scale = Math.min(box.width / width, box.height / height, mostScale);
  const drawn = { width: width * scale, height: height * scale };
  return {
    x: box.x + (box.width - drawn.width) / 2,
    y: box.y + (box.height - drawn.height) / 2,
    ...drawn,
  };
}

const most = 3;

/** The places in which these pictures together are largest: coats side by side, shoes below each other. */
export function arrange(sizes: readonly Size[]): Box[] {
  const choices = Array.from({ length: Math.min(most, sizes.length) }, (_, index) =>
    layOut(sizes.length, index + 1).map((box, place) => fitInto(sizes[place] ?? box, box)),
  );
  const areaOf = (boxes: readonly Box[]) =>
    boxes.reduce((sum, { width, height }) => sum + Math.sqrt(width * height), 0);
  return choices.reduce((best, one) => (areaOf(one) > areaOf(best) ? one : best), choices[0] ?? []);
}

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

interface Piece extends Size {
  picture: HTMLCanvasElement;
  /** The part of the picture that is drawn. */
  part: Bounds;
  /** Whether its background is gone; otherwise it is drawn as a card. */
  isCut: boolean;
}

/** Longest side in pixels in which a picture is cut out. Of a larger one the page would stand still for seconds, for a smaller place. */
const mostCut = 1200;

function pieceOf(image: HTMLImageElement): Piece {
  const { naturalWidth, naturalHeight } = image;
  const scale = Math.min(1, mostCut / Math.max(naturalWidth, naturalHeight));
  const width = Math.max(1, Math.round(naturalWidth * scale));
  const height = Math.max(1, Math.round(naturalHeight * scale));
  const picture = document.createElement("canvas");
  picture.width = width;
  picture.height = height;
  const context = picture.getContext("2d", { willReadFrequently: true });
  if (context === null) throw new Error("The browser cannot draw pictures.");
  context.drawImage(image, 0, 0, width, height);
  const pixels = context.getImageData(0, 0, width, height);
  const found = cutOut(pixels.data, width, height);
  if (found !== null) context.putImageData(pixels, 0, 0);
  const part = found ?? { x: 0, y: 0, width, height };
  return { picture, part, isCut: found !== null, width: part.width, height: part.height };
}

function drawPiece(context: CanvasRenderingContext2D, { picture, part, isCut }: Piece, box: Box) {
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
  context.drawImage(
    picture,
    ...([part.x, part.y, part.width, part.height] as const),
    ...([box.x, box.y, box.width, box.height] as const),
  );
  context.restore();
}

/** Lets the page answer between two pictures, each of which takes some 30 ms. */
const pause = () => new Promise<void>((resolve) => setTimeout(resolve));

/** Draws the items on one sheet, each whole and without its background. Fails when a picture cannot be loaded. */
export async function drawComposition(
  canvas: HTMLCanvasElement,
  urls: readonly string[],
): Promise<void> {
  const images = await Promise.all(urls.slice(0, mostComposed).map(loadPicture));
  const pieces: Piece[] = [];
  for (const image of images) {
    pieces.push(pieceOf(image));
    await pause();
  }
  canvas.width = composedWidth;
  canvas.height = composedHeight;
  const context = canvas.getContext("2d");
  if (context === null) throw new Error("The browser cannot draw pictures.");
  context.fillStyle = paper;
  context.fillRect(0, 0, composedWidth, composedHeight);
  arrange(pieces).forEach((box, index) => {
    const piece = pieces[index];
    if (piece !== undefined) drawPiece(context, piece, box);
  });
}

/** The sheet as a file: WebP, or JPEG where the browser cannot write WebP. */
export async function composePicture(urls: readonly string[]): Promise<File> {
  const canvas = document.createElement("canvas");
  await drawComposition(canvas, urls);
  const blob = await encodeCanvas(canvas, undefined, 0.86);
  return new File([blob], "composed", { type: blob.type });
}
