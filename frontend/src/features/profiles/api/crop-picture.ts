import { encodeCanvas } from "@/lib/picture-file";

/** Width and height in pixels of a stored avatar. */
export const avatarSize = 512;

/** The square part of a picture that becomes the avatar. */
export interface Crop {
  /** 1 shows as much as fits, 3 a third of that in each direction. */
  zoom: number;
  /** Place of the square between the left and the right edge, 0 to 1. */
  x: number;
  /** Place of the square between the upper and the lower edge, 0 to 1. */
  y: number;
}

/** The square in pixels of the picture. */
export function squareOf(crop: Crop, width: number, height: number) {
  const side = Math.min(width, height) / crop.zoom;
  return { side, left: (width - side) * crop.x, top: (height - side) * crop.y };
}

/** A crop that shows another part of the picture, moved by pixels of a view of that size. The square stays within the picture. */
export function moveCrop(
  crop: Crop,
  by: { right: number; down: number },
  view: number,
  width: number,
  height: number,
): Crop {
  const { side } = squareOf(crop, width, height);
  const place = (at: number, shift: number, length: number) => {
    const free = length - side;
    return free <= 0 ? at : Math.min(1, Math.max(0, at - (shift * side) / view / free));
  };
  return { ...crop, x: place(crop.x, by.right, width), y: place(crop.y, by.down, height) };
}

/** Loads a picture from a file. Rejects when the browser cannot read its format. */
export async function loadPicture(url: string): Promise<HTMLImageElement> {
  const picture = new Image();
  picture.src = url;
  await picture.decode();
  return picture;
}

/** The chosen square as a file of {@link avatarSize}. Browsers that cannot write WebP make a JPEG instead. */
export async function renderCrop(picture: HTMLImageElement, crop: Crop): Promise<File> {
  const canvas = document.createElement("canvas");
  canvas.width = avatarSize;
  canvas.height = avatarSize;
  const { side, left, top } = squareOf(crop, picture.naturalWidth, picture.naturalHeight);
  const context = canvas.getContext("2d");
  if (context === null) throw new Error("The browser cannot draw pictures.");
  context.imageSmoothingQuality = "high";
  // A JPEG has no transparency: what is transparent would become black.
  context.fillStyle = "#fff";
  context.fillRect(0, 0, avatarSize, avatarSize);
  context.drawImage(picture, left, top, side, side, 0, 0, avatarSize, avatarSize);
  const blob = await encodeCanvas(canvas);
  return new File([blob], "avatar", { type: blob.type });
}
