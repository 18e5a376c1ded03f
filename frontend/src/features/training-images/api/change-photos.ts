import { useMutation, useQueryClient } from "@tanstack/react-query";
import { pictureEndings, preparePicture } from "@/lib/picture-file";
import { cancelled, uniqueFileName, uploadResumably } from "@/lib/resumable-upload";
import { isUnreachable, resultOf, ServiceError } from "@/lib/service-error";
import { supabase } from "@/lib/supabase";
import { photoBucket, type Slot, type TrainingPhoto, trainingPhotosKey } from "./list-photos";
import { photoLimits } from "./photo-file";

interface PhotoUpload {
  file: File;
  /** The photo in this slot so far. */
  replaced: TrainingPhoto | undefined;
  onProgress: (sent: number) => void;
  signal: AbortSignal;
}

/** Removes an object. A missing object is not an error: storage responds with an empty list. */
async function removeObject(path: string): Promise<void> {
  const { error } = await (await import("@/lib/storage")).storage.from(photoBucket).remove([path]);
  if (error !== null) throw new ServiceError(error.message, "", error.status ?? 0, error);
}

/** Fills a slot: the file first, then the row that names it, then the replaced file goes. */
async function uploadPhoto(userId: string, slot: Slot, upload: PhotoUpload): Promise<void> {
  const file = await preparePicture(upload.file, photoLimits);
  const path = await uploadResumably({
    owner: userId,
    file,
    bucket: photoBucket,
    objectName: `training-images/${userId}/${uniqueFileName(pictureEndings[file.type] ?? "jpg")}`,
    place: `training-image:${userId}:${slot}`,
    contentType: file.type,
    onProgress: upload.onProgress,
    signal: upload.signal,
  });
  try {
    // Cancelled after the last piece was sent: the photo that is there stays.
    if (upload.signal.aborted) throw cancelled();
    resultOf(
      await supabase.from("user_training_images").upsert(
        {
          user_id: userId,
          image_url: path,
          image_order: slot,
          updated_at: new Date().toISOString(),
        },
        { onConflict: "user_id,image_order" },
      ),
    );
  } catch (error) {
    // Without its row the photo would never be found again. Where the answer alone was lost the row is there, and its photo stays.
    if (!isUnreachable(error)) await removeObject(path).catch(() => undefined);
    throw error;
  }
  if (upload.replaced !== undefined && upload.replaced.path !== path) {
    await removeObject(upload.replaced.path);
  }
}

export function useUploadPhoto(userId: string, slot: Slot) {
  const queryClient = useQueryClient();
  return useMutation({
    mutationFn: (upload: PhotoUpload) => uploadPhoto(userId, slot, upload),
    onSettled: () => queryClient.invalidateQueries({ queryKey: trainingPhotosKey(userId) }),
  });
}

/**
 * Deletes a photo. The object goes before the row: after a failure in between, the photo can still be found and deleted. Another photo
 * that has been put into the slot meanwhile, by another device or an upload that ended just then, stays.
 */
export function useDeletePhoto(userId: string) {
  const queryClient = useQueryClient();
  return useMutation({
    mutationFn: async ({ slot, path }: TrainingPhoto) => {
      await removeObject(path);
      resultOf(
        await supabase
          .from("user_training_images")
          .delete()
          .eq("user_id", userId)
          .eq("image_order", slot)
          .eq("image_url", path),
      );
    },
    onSettled: () => queryClient.invalidateQueries({ queryKey: trainingPhotosKey(userId) }),
  });
}
