import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { Button } from "@ui/button";
import { Bell } from "lucide-react";
import { ExploreLink } from "@/app/routes/explore/explore-link";
import { notificationPath } from "@/app/shell/notification-path";
import { EmptyState } from "@/components/ui/empty-state";
import { ErrorNotice } from "@/components/ui/error-notice";
import { LoadMore } from "@/components/ui/load-more";
import { Skeleton } from "@/components/ui/skeleton";
import { unreadCountQuery } from "@/features/notifications/api/count-unread";
import { notificationsQuery } from "@/features/notifications/api/list-notifications";
import { useMarkRead } from "@/features/notifications/api/mark-read";
import { NotificationRow } from "@/features/notifications/components/notification-row";
import { pageTitle } from "@/lib/product";
import { useSession } from "@/lib/session";

/** All notifications of the signed-in user, at /notifications. */
export function Notifications() {
  const { user } = useSession();
  if (user === null) return null;
  return <NotificationsOf userId={user.id} />;
}

function NotificationsOf({ userId }: { userId: string }) {
  const { data: unread = 0 } = useQuery(unreadCountQuery(userId));
  const markRead = useMarkRead(userId);
  return (
    <section aria-labelledby="notifications-title" className="mx-auto max-w-2xl">
      <title>{pageTitle("Notifications")}</title>
      <div className="mb-6 flex min-h-11 flex-wrap items-center justify-between gap-3">
        <h1 id="notifications-title" className="font-serif text-display">
          Notifications
        </h1>
        {unread > 0 && (
          <Button pending={markRead.isPending} onClick={() => markRead.mutate("all")}>
            Mark all as read
          </Button>
        )}
      </div>
      <NotificationList userId={userId} onRead={(id) => markRead.mutate(id)} />
    </section>
  );
}

interface NotificationListProps {
  userId: string;
  onRead: (id: string) => void;
}

function NotificationList({ userId, onRead }: NotificationListProps) {
  const list = useInfiniteQuery(notificationsQuery(userId));
  if (list.isPending) return <NotificationListSkeleton />;
  if (list.data === undefined) {
    return (
      <ErrorNotice
        title="The notifications could not be loaded."
        error={list.error}
        onRetry={list.refetch}
      />
    );
  }
  if (list.data.length === 0) {
    return (
      <EmptyState
        glyph={<Bell strokeWidth={1.4} />}
        title="You have no notifications yet."
        action={<ExploreLink />}
      />
    );
  }
  return (
    <>
      <ul aria-label="Notifications" className="-mx-3 divide-y divide-line">
        {list.data.map((notification) => (
          <li key={notification.id}>
            <NotificationRow
              notification={notification}
              to={notificationPath(notification)}
              onOpen={() => {
                if (notification.read_at === null) onRead(notification.id);
              }}
            />
          </li>
        ))}
      </ul>
      <LoadMore list={list} />
    </>
  );
}

function NotificationListSkeleton() {
  return (
    <div role="status" className="flex flex-col gap-8 py-4">
      <span className="sr-only">Loading notifications...</span>
      {["a", "b", "c", "d", "e", "f"].map((row) => (
        <div key={row} aria-hidden="true" className="flex items-center gap-4">
          <Skeleton className="h-17.5 w-14" />
          <div className="flex-1">
            <Skeleton className="h-4 w-1/3" />
            <Skeleton className="mt-2 h-3 w-2/3" />
          </div>
        </div>
      ))}
    </div>
  );
}
