import { queryOptions } from "@tanstack/react-query";
import { newestFirst, pagedQuery } from "@/lib/paged-query";
import { notificationKeys } from "@/lib/query-keys";
import { rowsOf } from "@/lib/service-error";
import { supabase } from "@/lib/supabase";
import { type Notification, notificationColumns } from "./notification";

/** How many the menu of the bell shows. */
const latestCount = 5;

/** All notifications of a user, newest first. */
export function notificationsQuery(userId: string) {
  return pagedQuery<Notification>({
    queryKey: notificationKeys.list(userId),
    readPage: async (page) =>
      rowsOf(
        await newestFirst(
          supabase.from("notifications").select(notificationColumns).eq("user_id", userId),
          page,
        ),
      ),
  });
}

/** The newest few notifications of a user. */
export function latestNotificationsQuery(userId: string) {
  return queryOptions({
    queryKey: notificationKeys.latest(userId),
    queryFn: async ({ signal }): Promise<Notification[]> =>
      rowsOf(
        await newestFirst(
          supabase.from("notifications").select(notificationColumns).eq("user_id", userId),
          { from: 0, to: latestCount - 1, signal },
        ),
      ),
  });
}
