import { pictureEndings, preparePicture } from "@/lib/picture-file";

import { rowsOf } from "@/lib/service-error";
import { supabase } from "@/lib/supabase";

const bucket = "user-outfit-images";
const publicPrefix = `/storage/v1/object/public/${bucket}/`;
const mostBytes = 5 * 1024 * 1024;

export const acceptedPictures = Object.keys(pictureEndings).join(",");

/** Why a file cannot be an outfit's picture; undefined when it can. */
export function pictureFileError(file: File): string | undefined {
  if (pictureEndings[file.type] === undefined) return "Please upload an image file.";
  if (file.size > mostBytes) return "File size must be less than 5MB";
  return undefined;
}

const composedPrefix = (sheet: string) => `composed-${sheet}-`;

/** Uploads a picture that was drawn from those of the items. Its name says how, because each attempt draws another file. */
export function uploadComposedPicture(userId: string, file: File, sheet: string): Promise<string> {
  return uploadOutfitPicture(userId, file, composedPrefix(sheet));
}

/** Whether a picture was drawn from those of the items on such a sheet. */
export function isComposedPicture(url: string | null, sheet: string): boolean {
  const isOwn = url?.startsWith(publicPrefix) === true;
  return isOwn && url.slice(url.lastIndexOf("/") + 1).startsWith(composedPrefix(sheet));
}

/** Uploads a chosen file, without what a camera wrote beside the picture. Throws a `PictureError` for what is no picture. */
export async function uploadChosenPicture(userId: string, chosen: File): Promise<string> {
  return uploadOutfitPicture(userId, await preparePicture(chosen, { maxBytes: mostBytes }));
}

/** Uploads a picture into the user's own folder, under a name that no other file has. Returns its root-relative address. */
export async function uploadOutfitPicture(
  userId: string,
  file: File,
  prefix = "",
): Promise<string> {
  const { storage } = await import("@/lib/storage");
  const unique = `${prefix}${Date.now()}-${crypto.randomUUID().slice(0, 8)}`;
  const path = `${userId}/${unique}.${pictureEndings[file.type] ?? "webp"}`;
  const { error } = await storage
    .from(bucket)
    .upload(path, file, { cacheControl: "3600", upsert: false, contentType: file.type });
  if (error !== null) throw error;
  return `${publicPrefix}${path}`;
}

/**
 * Deletes a picture unless an outfit of the user still shows it, such as one that an earlier attempt has published. URLs outside of
 * the user's folder are ignored.
 */
export async function deleteOutfitPicture(userId: string, url: string): Promise<void> {
  if (!url.startsWith(`${publicPrefix}${userId}/`)) return;
  const shown = await supabase
    .from("combines")
    .select("id")
    .eq("user_id", userId)
    .eq("main_image", url)
    .limit(1);
  if (rowsOf(shown).length > 0) return;
  const { storage } = await import("@/lib/storage");
  await storage.from(bucket).remove([url.slice(publicPrefix.length)]);
}
