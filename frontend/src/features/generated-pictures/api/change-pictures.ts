import { useMutation, useQueryClient } from "@tanstack/react-query";
import { messageOf, resultOf, rowsOf } from "@/lib/service-error";
import { supabase } from "@/lib/supabase";
import { toast } from "@/lib/toast";
import { generatedPicturesKey } from "./list-pictures";

/** A change of the user's pictures; the list is read again, whatever its outcome. */
function usePictureChange(userId: string, change: (id: string) => Promise<void>, failure: string) {
  const queryClient = useQueryClient();
  return useMutation({
    mutationFn: change,
    onError: (error) => toast(failure, messageOf(error, "Please try again."), "danger"),
    // Not the addresses of pictures below this key: a deleted picture has none any more.
    onSettled: () =>
      queryClient.invalidateQueries({ queryKey: generatedPicturesKey(userId), exact: true }),
  });
}

/** Asks for a picture of an outfit, named by its id. */
export function useRequestPicture(userId: string) {
  return usePictureChange(
    userId,
    async (outfitId) => {
      rowsOf(await supabase.rpc("request_generated_picture", { outfit_id: outfitId }));
    },
    "The picture could not be asked for",
  );
}

/** Queues a failed or cancelled picture again. */
export function useRetryPicture(userId: string) {
  return usePictureChange(
    userId,
    async (pictureId) => {
      resultOf(await supabase.rpc("retry_generated_picture", { picture_id: pictureId }));
    },
    "The picture could not be tried again",
  );
}

/** Stops a picture that waits or is being made. */
export function useCancelPicture(userId: string) {
  return usePictureChange(
    userId,
    async (pictureId) => {
      resultOf(await supabase.rpc("cancel_generated_picture", { picture_id: pictureId }));
    },
    "The picture could not be cancelled",
  );
}

/** Deletes a picture; the database deletes its file in the same transaction. */
export function useDeletePicture(userId: string) {
  return usePictureChange(
    userId,
    async (pictureId) => {
      resultOf(
        await supabase
          .from("generated_pictures")
          .delete()
          .eq("id", pictureId)
          .eq("user_id", userId),
      );
    },
    "The picture could not be deleted",
  );
}
