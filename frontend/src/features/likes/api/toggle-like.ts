import { useMutation, useQueryClient } from "@tanstack/react-query";
import { hasCode, messageOf, resultOf, uniqueViolation } from "@/lib/service-error";
import { myProfileKey } from "@/lib/session";
import { supabase } from "@/lib/supabase";
import { toast } from "@/lib/toast";
import { likedIdsKey } from "./liked-ids";

interface Toggle {
  combineId: string;
  /** The state asked for. */
  liked: boolean;
}

/** Likes or unlikes an outfit: the heart changes at once, and back if the server refuses. */
export function useToggleLike(userId: string) {
  const queryClient = useQueryClient();
  const key = likedIdsKey(userId);
  return useMutation({
    mutationKey: ["likes", "toggle"],
    mutationFn: async ({ combineId, liked }: Toggle) => {
      if (liked) {
        resultOf(await supabase.from("likes").insert({ user_id: userId, combine_id: combineId }));
      } else {
        resultOf(
          await supabase.from("likes").delete().eq("user_id", userId).eq("combine_id", combineId),
        );
      }
    },
    onMutate: async ({ combineId, liked }) => {
      await queryClient.cancelQueries({ queryKey: key });
      const before = queryClient.getQueryData<string[]>(key);
      queryClient.setQueryData<string[]>(key, (ids = []) =>
        liked ? [...new Set([...ids, combineId])] : ids.filter((id) => id !== combineId),
      );
      return { before };
    },
    onSuccess: (_data, { liked }) => {
      if (liked) toast("Liked!", "This outfit has been added to your favorites", "success");
      else toast("Unliked", "This outfit has been removed from your favorites");
    },
    onError: (error, { liked }, context) => {
      if (liked && hasCode(error, uniqueViolation)) {
        toast("Already liked", "You've already liked this outfit combination");
        return;
      }
      queryClient.setQueryData(key, context?.before);
      toast("Error", messageOf(error, "Failed to like the item. Please try again."), "danger");
    },
    onSettled: () =>
      Promise.all([
        queryClient.invalidateQueries({ queryKey: key }),
        queryClient.invalidateQueries({ queryKey: ["outfits", "liked"] }),
        queryClient.invalidateQueries({ queryKey: ["outfits", "top"] }),
        queryClient.invalidateQueries({ queryKey: myProfileKey(userId) }),
      ]),
  });
}
