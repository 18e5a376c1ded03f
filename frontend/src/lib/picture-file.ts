// What is done to a chosen picture before it is uploaded: it is judged by its bytes, and what a camera wrote beside the picture, such
// as the place of a person's home, does not leave the machine.

/** Why a file cannot be used, as a sentence for the person who chose it. */
export class PictureError extends Error {}

/** Formats by their first bytes. HEIC is read by Safari alone, which turns it into another one. */
export type PictureType =
  | "image/png"
  | "image/jpeg"
  | "image/webp"
  | "image/gif"
  | "image/avif"
  | "image/heic";

/** Endings of stored files, by media type. */
export const pictureEndings: Readonly<Record<string, string>> = {
  "image/png": "png",
  "image/jpeg": "jpg",
  "image/webp": "webp",
  "image/avif": "avif",
  "image/gif": "gif",
};

/** Larger pictures are drawn anew with this width or height: no page shows more, and renderers refuse more. */
const mostPixelsOfSide = 4096;
/** More than the largest cameras make; a decoded pixel takes four bytes. */
const mostPixels = 100_000_000;

function textAt(bytes: Uint8Array, start: number, end: number): string {
  return String.fromCharCode(...bytes.subarray(start, end));
}

/** The format of a file by its first bytes; null when it is no picture. */
export function sniffType(bytes: Uint8Array): PictureType | null {
  const start = textAt(bytes, 0, 12);
  if (start.startsWith("\x89PNG\r\n\x1a\n")) return "image/png";
  if (start.startsWith("\xff\xd8\xff")) return "image/jpeg";
  if (start.startsWith("GIF87a") || start.startsWith("GIF89a")) return "image/gif";
  if (start.startsWith("RIFF") && start.endsWith("WEBP")) return "image/webp";
  if (!start.slice(4).startsWith("ftyp")) return null;
  const brands = textAt(bytes, 8, 40);
  if (/avi[fs]/.test(brands)) return "image/avif";
  return /hei[cx]|hev[cx]|mif1|msf1/.test(brands) ? "image/heic" : null;
}

/** Where formats keep what is not the picture: EXIF, XMP, and texts of PNG. */
const metadataMarks = [
  "Exif",
  "eXIf",
  "EXIF",
  "XMP ",
  "ns.adobe.com/xap",
  "tEXt",
  "iTXt",
  "zTXt",
  "Photoshop",
];

/** Whether a file may hold more than a picture. Chance finds such letters in one of thousands, which is then drawn anew for nothing. */
export function mayHoldMetadata(bytes: Uint8Array): boolean {
  const text = new TextDecoder("latin1").decode(bytes);
  return metadataMarks.some((mark) => text.includes(mark));
}

/**
 * A canvas as a file of the first of these types that the browser can write. Browsers answer with PNG, without an error, where they
 * cannot write a type, and a PNG of a photo is many times larger.
 */
export async function encodeCanvas(
  canvas: HTMLCanvasElement,
  types: readonly ("image/webp" | "image/jpeg" | "image/png")[] = ["image/webp", "image/jpeg"],
  quality = 0.88,
): Promise<Blob> {
  for (const type of types) {
    const blob = await new Promise<Blob | null>((done) => canvas.toBlob(done, type, quality));
    if (blob?.type === type) return blob;
  }
  throw new PictureError("This browser cannot save the picture.");
}

interface Limits {
  maxBytes: number;
  /** The smaller side must have as many pixels. */
  minSide?: number;
}

/** Decodes the file as the browser would show it: upright. */
async function decode(file: Blob, type: PictureType): Promise<ImageBitmap> {
  try {
    return await createImageBitmap(file.slice(0, file.size, type));
  } catch {
    throw new PictureError(
      type === "image/heic"
        ? "This browser cannot read HEIC photos. Choose a JPEG, or export the photo as one."
        : "Please upload a valid image file",
    );
  }
}

/** Types to write a picture in: photos as JPEG, what may be transparent as WebP, or PNG where there is none. */
function targetsOf(type: PictureType) {
  const isPhoto = type === "image/jpeg" || type === "image/heic";
  return isPhoto ? (["image/jpeg"] as const) : (["image/webp", "image/png"] as const);
}

async function draw(bitmap: ImageBitmap, type: PictureType, maxBytes: number): Promise<Blob> {
  const scale = Math.min(1, mostPixelsOfSide / Math.max(bitmap.width, bitmap.height));
  const canvas = document.createElement("canvas");
  canvas.width = Math.max(1, Math.round(bitmap.width * scale));
  canvas.height = Math.max(1, Math.round(bitmap.height * scale));
  const context = canvas.getContext("2d");
  if (context === null) throw new PictureError("This browser cannot draw pictures.");
  context.imageSmoothingQuality = "high";
  context.drawImage(bitmap, 0, 0, canvas.width, canvas.height);
  for (const quality of [0.92, 0.8, 0.6]) {
    const blob = await encodeCanvas(canvas, targetsOf(type), quality);
    if (blob.size <= maxBytes) return blob;
  }
  throw new PictureError("The picture is too large. Choose a smaller one.");
}

/**
 * The file that is uploaded in place of a chosen one. A picture without metadata keeps its bytes; others are drawn anew, upright.
 * Throws a {@link PictureError} for what is no picture that can be shown.
 */
export async function preparePicture(file: File, { maxBytes, minSide = 1 }: Limits): Promise<File> {
  const bytes = new Uint8Array(await file.arrayBuffer());
  const type = sniffType(bytes);
  if (type === null) throw new PictureError("Please upload a valid image file");
  const bitmap = await decode(file, type);
  try {
    const { width, height } = bitmap;
    if (width * height > mostPixels) {
      throw new PictureError("The picture has more than 100 megapixels. Choose a smaller one.");
    }
    if (Math.min(width, height) < minSide) {
      throw new PictureError(
        `The picture is too small: it needs at least ${minSide} × ${minSide} pixels.`,
      );
    }
    const isReady =
      type !== "image/heic" &&
      type !== "image/avif" &&
      Math.max(width, height) <= mostPixelsOfSide &&
      !mayHoldMetadata(bytes);
    const blob = isReady ? file : await draw(bitmap, type, maxBytes);
    const stored = isReady ? type : blob.type;
    // Name and time stay, so that an interrupted upload of the same file is recognised.
    return new File([blob], file.name, { type: stored, lastModified: file.lastModified });
  } finally {
    bitmap.close();
  }
}
