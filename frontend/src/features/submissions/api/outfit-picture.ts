const bucket = "user-outfit-images";
const publicPrefix = `/storage/v1/object/public/${bucket}/`;
const mostBytes = 5 * 1024 * 1024;

/** Formats that the bucket takes, with the ending of their files. */
const endings: Readonly<Record<string, string>> = {
  "image/png": "png",
  "image/jpeg": "jpg",
  "image/webp": "webp",
  "image/avif": "avif",
  "image/gif": "gif",
};

export const acceptedPictures = Object.keys(endings).join(",");

/** Why a file cannot be an outfit's picture; undefined when it can. */
export function pictureFileError(file: File): string | undefined {
  if (endings[file.type] === undefined) return "Please upload an image file.";
  if (file.size > mostBytes) return "File size must be less than 5MB";
  return undefined;
}

const composedPrefix = "composed-";

/** Uploads a picture that was drawn from those of the items. Its name says so, because each attempt draws another file. */
export function uploadComposedPicture(userId: string, file: File): Promise<string> {
  return uploadOutfitPicture(userId, file, composedPrefix);
}

/** Whether a picture was drawn from those of the items. */
export function isComposedPicture(url: string | null): boolean {
  const isOwn = url?.startsWith(publicPrefix) === true;
  return isOwn && url.slice(url.lastIndexOf("/") + 1).startsWith(composedPrefix);
}

/** Uploads a picture into the user's own folder, under a name that no other file has. Returns its root-relative address. */
export async function uploadOutfitPicture(
  userId: string,
  file: File,
  prefix = "",
): Promise<string> {
  const { storage } = await import("@/lib/storage");
  const unique = `${prefix}${Date.now()}-${crypto.randomUUID().slice(0, 8)}`;
  const path = `${userId}/${unique}.${endings[file.type] ?? "webp"}`;
  const { error } = await storage
    .from(bucket)
    .upload(path, file, { cacheControl: "3600", upsert: false, contentType: file.type });
  if (error !== null) throw error;
  return `${publicPrefix}${path}`;
}

/** Deletes a picture that is no longer used. URLs outside of the user's folder are ignored. */
export async function deleteOutfitPicture(userId: string, url: string): Promise<void> {
  if (!url.startsWith(`${publicPrefix}${userId}/`)) return;
  const { storage } = await import("@/lib/storage");
  await storage.from(bucket).remove([url.slice(publicPrefix.length)]);
}
