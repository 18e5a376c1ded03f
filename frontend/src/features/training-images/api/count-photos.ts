import { queryOptions } from "@tanstack/react-query";
import { ServiceError } from "@/lib/service-error";
import { supabase } from "@/lib/supabase";
import { slots, trainingPhotosKey } from "./list-photos";

/** Whether all slots of the user are filled, without the addresses of the photos. */
export function photosCompleteQuery(userId: string) {
  return queryOptions({
    // Below the key of the photos, so that a change of them refreshes this, too.
    queryKey: [...trainingPhotosKey(userId), "complete"],
    queryFn: async ({ signal }): Promise<boolean> => {
      const { count, error, status } = await supabase
        .from("user_training_images")
        .select("image_order", { count: "exact", head: true })
        .eq("user_id", userId)
        .abortSignal(signal);
      if (error !== null) throw new ServiceError(error.message, error.code, status, error);
      return count === slots.length;
    },
  });
}
