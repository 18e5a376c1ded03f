import { useQuery } from "@tanstack/react-query";
import { cn } from "@ui/cn";
import { Bell } from "lucide-react";
import { lazyMenu, MenuButton } from "@/components/ui/menu-button";
import { unreadCountQuery } from "@/features/notifications/api/count-unread";
import { useSession } from "@/lib/session";
import { headerButton } from "./header-button";

const notificationsMenu = lazyMenu(
  async () => (await import("./notifications-menu")).NotificationsMenu,
);

/** More are shown as this number and a plus sign, so that the badge keeps its size. */
const mostShown = 9;

/** The bell with the number of unread notifications. */
export function NotificationsControl() {
  const { user } = useSession();
  const userId = user?.id ?? "";
  const { data: unread = 0 } = useQuery({ ...unreadCountQuery(userId), enabled: userId !== "" });
  const shown = unread > mostShown ? `${mostShown}+` : `${unread}`;
  // The name contains the number as it is shown, because people who use voice control say what they see.
  const label = unread === 0 ? "Notifications" : `Notifications, ${shown} unread`;
  return (
    <MenuButton
      menu={notificationsMenu}
      aria-label={label}
      title={label}
      className={cn(headerButton, "relative")}
    >
      <Bell className="size-5" strokeWidth={1.6} />
      {unread > 0 && (
        <span
          aria-hidden="true"
          className="absolute top-1 right-0.5 flex h-4.5 min-w-4.5 items-center justify-center rounded-full bg-accent px-1 text-label text-on-accent tabular-nums"
        >
          {shown}
        </span>
      )}
    </MenuButton>
  );
}
