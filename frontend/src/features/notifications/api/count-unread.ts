import { queryOptions } from "@tanstack/react-query";
import { notificationKeys } from "@/lib/query-keys";
import { ServiceError } from "@/lib/service-error";
import { supabase } from "@/lib/supabase";

/** How many notifications a user has not read. */
export function unreadCountQuery(userId: string) {
  return queryOptions({
    queryKey: notificationKeys.unread(userId),
    queryFn: async ({ signal }): Promise<number> => {
      const { count, error, status } = await supabase
        .from("notifications")
        .select("id", { count: "exact", head: true })
        .eq("user_id", userId)
        .is("read_at", null)
        .abortSignal(signal);
      if (error !== null) throw new ServiceError(error.message, error.code, status, error);
      return count ?? 0;
    },
  });
}
