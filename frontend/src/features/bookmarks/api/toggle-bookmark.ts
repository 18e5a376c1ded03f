import { useMutation, useQueryClient } from "@tanstack/react-query";
import {
  hasCode,
  insufficientPrivilege,
  messageOf,
  resultOf,
  ServiceError,
  uniqueViolation,
} from "@/lib/service-error";
import { supabase } from "@/lib/supabase";
import { toast } from "@/lib/toast";
import { bookmarkedIdsKey } from "./bookmarked-ids";

interface Toggle {
  combineId: string;
  /** The state asked for. */
  bookmarked: boolean;
}

/** Only for oneself: the session may have ended or changed in another tab since the page was drawn. */
async function verifyPermitted(userId: string): Promise<void> {
  const { data } = await supabase.auth.getSession();
  if (data.session?.user.id !== userId) {
    throw new ServiceError("The session is not this user's.", insufficientPrivilege, 403);
  }
}

/** Bookmarks an outfit or removes the bookmark: shown at once, undone if the server refuses. */
export function useToggleBookmark(userId: string) {
  const queryClient = useQueryClient();
  const key = bookmarkedIdsKey(userId);
  return useMutation({
    mutationKey: ["bookmarks", "toggle"],
    mutationFn: async ({ combineId, bookmarked }: Toggle) => {
      await verifyPermitted(userId);
      const bookmarks = supabase.from("bookmarks");
      if (bookmarked) {
        resultOf(await bookmarks.insert({ user_id: userId, combine_id: combineId }));
      } else {
        resultOf(await bookmarks.delete().eq("user_id", userId).eq("combine_id", combineId));
      }
    },
    onMutate: async ({ combineId, bookmarked }) => {
      await queryClient.cancelQueries({ queryKey: key });
      const before = queryClient.getQueryData<string[]>(key);
      queryClient.setQueryData<string[]>(key, (ids = []) =>
        bookmarked ? [...new Set([...ids, combineId])] : ids.filter((id) => id !== combineId),
      );
      return { before };
    },
    onSuccess: (_data, { bookmarked }) => {
      if (bookmarked)
        toast("Bookmarked!", "This outfit has been added to your bookmarks", "success");
      else toast("Bookmark removed", "This outfit has been removed from your bookmarks");
    },
    onError: (error, { combineId, bookmarked }, context) => {
      if (bookmarked && hasCode(error, uniqueViolation)) {
        toast("Already bookmarked", "You've already bookmarked this outfit combination");
        return;
      }
      queryClient.setQueryData(key, context?.before);
      if (hasCode(error, insufficientPrivilege)) {
        console.warn("[security] bookmark refused", { combineId, bookmarked });
        toast("Access denied", "You don't have permission to perform this action.", "danger");
        return;
      }
      toast("Error", messageOf(error, "Failed to bookmark the item. Please try again."), "danger");
    },
    onSettled: () =>
      Promise.all([
        queryClient.invalidateQueries({ queryKey: key }),
        queryClient.invalidateQueries({ queryKey: ["outfits", "bookmarked"] }),
      ]),
  });
}
