import { pictureEndings, preparePicture } from "@/lib/picture-file";
import { rowsOf, ServiceError } from "@/lib/service-error";
import { supabase } from "@/lib/supabase";
import { toast } from "@/lib/toast";

/** Where the pictures of a kind of row are stored. The bucket's own limits are the same and are checked by the server. */
export interface PicturePlace {
  bucket: string;
  /** Folder within the bucket; empty for its top. */
  folder: string;
  maxBytes: number;
}

const megabyte = 1024 * 1024;

export const picturePlaces = {
  brand: { bucket: "brand-logos", folder: "", maxBytes: 5 * megabyte },
  category: { bucket: "category-icons", folder: "", maxBytes: 2 * megabyte },
  item: { bucket: "images", folder: "items", maxBytes: 5 * megabyte },
  style: { bucket: "images", folder: "style-images", maxBytes: 5 * megabyte },
  outfitStyle: { bucket: "images", folder: "outfit-style-images", maxBytes: 5 * megabyte },
  outfit: { bucket: "combine-images", folder: "", maxBytes: 5 * megabyte },
} as const satisfies Record<string, PicturePlace>;

export const pictureTypes = Object.keys(pictureEndings).join(",");

/** Why a file cannot be uploaded, as title and text of a toast; null when it can. */
export function findFileProblem(
  file: { type: string; size: number },
  place: PicturePlace,
): { title: string; text: string } | null {
  if (pictureEndings[file.type] === undefined) {
    return { title: "Invalid file type", text: "Please upload an image file" };
  }
  if (file.size > place.maxBytes) {
    return {
      title: "File too large",
      text: `Image must be less than ${place.maxBytes / megabyte}MB`,
    };
  }
  return null;
}

const publicPrefix = "/storage/v1/object/public/";

/**
 * Uploads a picture under a new name. Returns its root-relative address, as image columns hold it. Throws a `PictureError` for a
 * file that is no picture, whatever its name says.
 */
export async function uploadPicture(chosen: File, place: PicturePlace): Promise<string> {
  const file = await preparePicture(chosen, place);
  const { storage } = await import("@/lib/storage");
  const folder = place.folder === "" ? "" : `${place.folder}/`;
  const path = `${folder}${crypto.randomUUID()}.${pictureEndings[file.type] ?? "bin"}`;
  const { data, error } = await storage
    .from(place.bucket)
    .upload(path, file, { contentType: file.type, cacheControl: "31536000" });
  if (error !== null) throw error;
  if (data.path === "") throw new Error("Failed to upload image");
  return `${publicPrefix}${place.bucket}/${data.path}`;
}

/** Bucket and path of a picture in our storage; null for addresses elsewhere. */
export function parsePictureAddress(url: string): { bucket: string; path: string } | null {
  if (!url.startsWith(publicPrefix)) return null;
  const [bucket = "", ...segments] = url.slice(publicPrefix.length).split("/");
  const path = segments.join("/");
  return bucket === "" || path === "" ? null : { bucket, path: decodeURIComponent(path) };
}

/** Deletes the file of a picture, unless a row still shows it. */
export async function removeUnusedPicture(url: string): Promise<void> {
  const file = parsePictureAddress(url);
  if (file === null || rowsOf(await supabase.rpc("picture_is_used", { url }))) return;
  const { storage } = await import("@/lib/storage");
  const { error } = await storage.from(file.bucket).remove([file.path]);
  if (error !== null) throw new ServiceError(error.message, "", 0, error);
}

/** Deletes the files of pictures that rows no longer show. What fails is left behind as an orphan, which the settings remove. */
export function removeUnusedPictures(urls: Iterable<string | null>): void {
  for (const url of new Set(urls)) {
    if (url) void removeUnusedPicture(url).catch(reportRemoval);
  }
}

function reportRemoval(): void {
  toast("Remove failed", "Failed to remove image. Please try again.", "danger");
}
