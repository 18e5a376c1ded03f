import { pictureEndings } from "@/lib/picture-file";

/** What a photo must be, beside a picture: see `preparePicture`. */
export const photoLimits = { maxBytes: 10 * 1024 * 1024, minSide: 200 } as const;

/** The types that the file input accepts. Without HEIC in the list, iPhones hand over a JPEG of such a photo. */
export const acceptedPhotos = Object.keys(pictureEndings).join(",");

/** Why a chosen file is refused before it is read; undefined when it may be a photo. Browsers leave the type of HEIC empty. */
export function findPhotoProblem(file: File): string | undefined {
  const isHeic = /\.hei[cf]$/i.test(file.name);
  if (!file.type.startsWith("image/") && !isHeic) return "Please upload an image file.";
  if (pictureEndings[file.type] === undefined && !isHeic && !/^image\/hei[cf]$/.test(file.type)) {
    return "Please upload a valid image file";
  }
  if (file.size > photoLimits.maxBytes) return "File size must be less than 10MB";
  return undefined;
}
