import { useMutation, useQueryClient } from "@tanstack/react-query";
import { notificationKeys } from "@/lib/query-keys";
import { messageOf, resultOf } from "@/lib/service-error";
import { supabase } from "@/lib/supabase";
import { toast } from "@/lib/toast";

/** Marks one notification as read, or all of them. */
export function useMarkRead(userId: string) {
  const queryClient = useQueryClient();
  return useMutation({
    mutationFn: async (which: string | "all") => {
      // The server replaces the time by its own.
      const unread = supabase
        .from("notifications")
        .update({ read_at: new Date().toISOString() })
        .eq("user_id", userId)
        .is("read_at", null);
      resultOf(await (which === "all" ? unread : unread.eq("id", which)));
    },
    onError: (error) =>
      toast(
        "Error",
        messageOf(error, "The notifications could not be marked as read. Please try again."),
        "danger",
      ),
    onSettled: () => queryClient.invalidateQueries({ queryKey: notificationKeys.ofUser(userId) }),
  });
}
