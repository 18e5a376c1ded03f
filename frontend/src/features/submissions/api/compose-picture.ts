import { imageSources } from "@/lib/images";
import { encodeCanvas } from "@/lib/picture-file";

/** Size of a composed picture in pixels: 4:5, as every outfit's. */
export const composedWidth = 1200;
export const composedHeight = 1500;
const gap = 20;
const paper = "#efe9e0";

export interface Box {
  x: number;
  y: number;
  width: number;
  height: number;
}

/** How many pictures stand in each column; none has more than three. */
function columnSizes(count: number): number[] {
  const columns = count <= 2 ? 1 : count <= 6 ? 2 : 3;
  const sizes = Array.from({ length: columns }, () => Math.floor(count / columns));
  // The last columns take one more each, so that the first picture is the largest.
  for (let rest = count % columns, at = columns - 1; rest > 0; rest -= 1, at -= 1) {
    sizes[at] = (sizes[at] ?? 0) + 1;
  }
  return sizes;
}

/** Where each of `count` pictures is drawn on the sheet, in their order. */
export function layOut(count: number): Box[] {
  const columns = columnSizes(count);
  const width = (composedWidth - gap * (columns.length + 1)) / columns.length;
  return columns.flatMap((rows, column) => {
    const height = (composedHeight - gap * (rows + 1)) / rows;
    return Array.from({ length: rows }, (_, row) => ({
      x: gap + column * (width + gap),
      y: gap + row * (height + gap),
      width,
      height,
    }));
  });
}

/** The middle part of a picture that has the shape of the box, as `object-fit: cover` cuts it. */
export function coverCrop(width: number, height: number, box: Box): Box {
  const scale = Math.min(width / box.width, height / box.height);
  const cut = { width: box.width * scale, height: box.height * scale };
  return { x: (width - cut.width) / 2, y: (height - cut.height) / 2, ...cut };
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

/** Draws the pictures of items on one sheet. Fails when one cannot be loaded. */
export async function drawComposition(
  canvas: HTMLCanvasElement,
  urls: readonly string[],
): Promise<void> {
  const images = await Promise.all(urls.slice(0, mostComposed).map(loadPicture));
  canvas.width = composedWidth;
  canvas.height = composedHeight;
  const context = canvas.getContext("2d");
  if (context === null) throw new Error("The browser cannot draw pictures.");
  context.fillStyle = paper;
  context.fillRect(0, 0, composedWidth, composedHeight);
  layOut(images.length).forEach((box, index) => {
    const image = images[index];
    if (image === undefined) return;
    const cut = coverCrop(image.naturalWidth, image.naturalHeight, box);
    context.drawImage(
      image,
      ...([cut.x, cut.y, cut.width, cut.height] as const),
      ...([box.x, box.y, box.width, box.height] as const),
    );
  });
}

/** The sheet as a file: WebP, or JPEG where the browser cannot write WebP. */
export async function composePicture(urls: readonly string[]): Promise<File> {
  const canvas = document.createElement("canvas");
  await drawComposition(canvas, urls);
  const blob = await encodeCanvas(canvas, undefined, 0.86);
  return new File([blob], "composed", { type: blob.type });
}
