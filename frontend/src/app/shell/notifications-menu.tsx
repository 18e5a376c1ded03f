import { useQuery } from "@tanstack/react-query";
import { CheckCheck, Heart, List, RotateCw, UserRound } from "lucide-react";
import type { ReactElement } from "react";
import { useNavigate } from "react-router";
import {
  Menu,
  MenuContent,
  MenuHeading,
  MenuItem,
  MenuSeparator,
  MenuText,
} from "@/components/ui/menu";
import { unreadCountQuery } from "@/features/notifications/api/count-unread";
import { latestNotificationsQuery } from "@/features/notifications/api/list-notifications";
import { useMarkRead } from "@/features/notifications/api/mark-read";
import { describeNotification, type Notification } from "@/features/notifications/api/notification";
import { NotificationGlyph } from "@/features/notifications/components/notification-glyph";
import { paths } from "@/lib/paths";
import { useSession } from "@/lib/session";
import { notificationPath } from "./notification-path";

/** Menu of the bell: the newest notifications of the signed-in user; two samples for visitors. */
export function NotificationsMenu({ trigger }: { trigger: ReactElement }) {
  const { user } = useSession();
  return (
    <Menu trigger={trigger}>
      <MenuContent label="Newest notifications">
        <MenuHeading>Notifications</MenuHeading>
        {user === null ? <Samples /> : <LatestNotifications userId={user.id} />}
      </MenuContent>
    </Menu>
  );
}

/**
 * Sample notifications for visitors, worded as in the specification. They are menu entries, because a menu without any
 * cannot be operated.
 */
function Samples() {
  return (
    <>
      <MenuItem>
        <Heart aria-hidden="true" strokeWidth={1.6} />
        New outfit liked
      </MenuItem>
      <MenuItem>
        <UserRound aria-hidden="true" strokeWidth={1.6} />
        New follower
      </MenuItem>
    </>
  );
}

function LatestNotifications({ userId }: { userId: string }) {
  const navigate = useNavigate();
  const latest = useQuery(latestNotificationsQuery(userId));
  const { data: unread = 0 } = useQuery(unreadCountQuery(userId));
  const markRead = useMarkRead(userId);

  function open(notification: Notification) {
    if (notification.read_at === null) markRead.mutate(notification.id);
    navigate(notificationPath(notification));
  }

  const seeAll = (
    <MenuItem onSelect={() => navigate(paths.notifications)}>
      <List strokeWidth={1.6} />
      See all notifications
    </MenuItem>
  );
  if (latest.isPending) {
    return (
      <>
        <MenuText>Loading notifications...</MenuText>
        {seeAll}
      </>
    );
  }
  if (latest.data === undefined) {
    return (
      <>
        <MenuText>The notifications could not be loaded.</MenuText>
        <MenuItem
          onSelect={(event) => {
            event.preventDefault();
            void latest.refetch();
          }}
        >
          <RotateCw strokeWidth={1.6} />
          Try again
        </MenuItem>
      </>
    );
  }
  if (latest.data.length === 0) {
    return (
      <>
        <MenuText>You have no notifications yet.</MenuText>
        {seeAll}
      </>
    );
  }
  return (
    <>
      {latest.data.map((notification) => (
        <Entry
          key={notification.id}
          notification={notification}
          onOpen={() => open(notification)}
        />
      ))}
      <MenuSeparator />
      {unread > 0 && (
        <MenuItem
          onSelect={(event) => {
            event.preventDefault();
            markRead.mutate("all");
          }}
        >
          <CheckCheck strokeWidth={1.6} />
          Mark all as read
        </MenuItem>
      )}
      {seeAll}
    </>
  );
}

function Entry({ notification, onOpen }: { notification: Notification; onOpen: () => void }) {
  const { title, text } = describeNotification(notification);
  return (
    <MenuItem onSelect={onOpen}>
      <NotificationGlyph kind={notification.kind} />
      <span className="max-w-64 min-w-0 flex-1">
        <span className="block">{title}</span>
        <span className="line-clamp-2 text-caption text-ink-soft">{text}</span>
      </span>
      {notification.read_at === null && (
        <span className="size-2 shrink-0 rounded-full bg-accent">
          <span className="sr-only">Unread</span>
        </span>
      )}
    </MenuItem>
  );
}
