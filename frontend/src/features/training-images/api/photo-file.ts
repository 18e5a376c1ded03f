const maxBytes = 10 * 1024 * 1024;

/** Formats that the bucket accepts, by media type, with the extension of the stored file. */
const extensions: Record<string, string> = {
  "image/png": "png",
  "image/jpeg": "jpg",
  "image/webp": "webp",
  "image/avif": "avif",
  "image/gif": "gif",
  "image/heic": "heic",
  "image/heif": "heif",
};

/** The types that the file input accepts. Some systems recognize HEIC only by its extension. */
export const acceptedPhotos = [...Object.keys(extensions), ".heic", ".heif"].join(",");

export type CheckedPhoto =
  | { ok: true; contentType: string; extension: string }
  | { ok: false; reason: string };

/** The media type of a chosen file, or why it is refused. Most browsers do not know HEIC and leave its type empty. */
export function checkPhoto(file: File): CheckedPhoto {
  const extension = /\.([a-z0-9]+)$/i.exec(file.name)?.[1]?.toLowerCase();
  const isUntypedHeic = file.type === "" && (extension === "heic" || extension === "heif");
  const contentType = isUntypedHeic ? `image/${extension}` : file.type;
  if (!contentType.startsWith("image/")) {
    return { ok: false, reason: "Please upload an image file." };
  }
  const stored = extensions[contentType];
  if (stored === undefined) return { ok: false, reason: "Please upload a valid image file" };
  if (file.size > maxBytes) return { ok: false, reason: "File size must be less than 10MB" };
  return { ok: true, contentType, extension: stored };
}
