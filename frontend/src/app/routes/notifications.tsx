import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { Button } from "@ui/button";
import { Bell } from "lucide-react";
import { Suspense, useId } from "react";
import { ExploreLink } from "@/app/routes/explore/explore-link";
import { NewestBelow } from "@/app/shell/newest-below";
import { notificationPath } from "@/app/shell/notification-path";
import { EmptyState } from "@/components/ui/empty-state";
import { ErrorNotice } from "@/components/ui/error-notice";
import { LoadMore } from "@/components/ui/load-more";
import { Skeleton } from "@/components/ui/skeleton";
import { unreadCountQuery } from "@/features/notifications/api/count-unread";
import { type DayGroup, groupByDay } from "@/features/notifications/api/group-by-day";
import { notificationsQuery } from "@/features/notifications/api/list-notifications";
import { useMarkRead } from "@/features/notifications/api/mark-read";
import { NotificationRow } from "@/features/notifications/components/notification-row";
import { lazyPart } from "@/lib/lazy-part";
import { pageTitle } from "@/lib/product";
import { useSession } from "@/lib/session";

const BesideNotifications = lazyPart(
  async () => ({ default: (await import("./beside-notifications")).BesideNotifications }),
  "nothing",
);
/** A list with this many entries or fewer leaves room on the screen, in which the newest outfits are shown. */
const few = 6;

/** All notifications of the signed-in user, at /notifications. */
export function Notifications() {
  const { user } = useSession();
  if (user === null) return null;
  return <NotificationsOf userId={user.id} />;
}

function NotificationsOf({ userId }: { userId: string }) {
  const { data: unread = 0 } = useQuery(unreadCountQuery(userId));
  const { data } = useInfiniteQuery(notificationsQuery(userId));
  const markRead = useMarkRead(userId);
  return (
    <>
      <div className="lg:grid lg:grid-cols-[minmax(0,1fr)_18rem] lg:items-start lg:gap-x-16">
        <section aria-labelledby="notifications-title">
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
        {/* After the list, which would push it away on phones. */}
        {data !== undefined && (
          <Suspense>
            <BesideNotifications userId={userId} />
          </Suspense>
        )}
      </div>
      {data !== undefined && data.length <= few && <NewestBelow />}
    </>
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
        followed
        glyph={<Bell strokeWidth={1.4} />}
        title="You have no notifications yet."
        action={<ExploreLink />}
      />
    );
  }
  return (
    <>
      {groupByDay(list.data, new Date()).map((group) => (
        <Day key={group.title} group={group} onRead={onRead} />
      ))}
      <LoadMore list={list} />
    </>
  );
}

interface DayProps {
  group: DayGroup;
  onRead: (id: string) => void;
}

function Day({ group: { title, isOneDay, notifications }, onRead }: DayProps) {
  const titleId = useId();
  return (
    <section aria-labelledby={titleId} className="mb-8">
      <h2 id={titleId} className="mb-2 font-medium text-ink-soft text-small">
        {title}
      </h2>
      <ul aria-labelledby={titleId} className="-mx-3 flex flex-col gap-1">
        {notifications.map((notification) => (
          <li key={notification.id}>
            <NotificationRow
              notification={notification}
              ofNamedDay={isOneDay}
              to={notificationPath(notification)}
              onOpen={() => {
                if (notification.read_at === null) onRead(notification.id);
              }}
            />
          </li>
        ))}
      </ul>
    </section>
  );
}

function NotificationListSkeleton() {
  return (
    <div role="status" className="flex flex-col gap-6 py-4">
      <span className="sr-only">Loading notifications...</span>
      {["a", "b", "c", "d", "e", "f"].map((row) => (
        <div key={row} aria-hidden="true" className="flex items-center gap-4">
          <Skeleton className="size-11 rounded-full!" />
          <div className="flex-1">
            <Skeleton className="h-4 w-1/3" />
            <Skeleton className="mt-2 h-3 w-2/3" />
          </div>
          <Skeleton className="h-17.5 w-14" />
        </div>
      ))}
    </div>
  );
}
