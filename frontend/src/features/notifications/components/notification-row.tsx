import { cn } from "@ui/cn";
import { Link, type To } from "react-router";
import { Avatar } from "@/components/ui/avatar";
import { Picture } from "@/components/ui/picture";
import { formatClock, formatMoment, initialsOf } from "@/lib/format";
import { describeNotification, type Notification } from "../api/notification";
import { NotificationGlyph } from "./notification-glyph";

interface NotificationRowProps {
  notification: Notification;
  /** Whether the day is told by what stands above, so that the time of the day is enough. */
  ofNamedDay?: boolean;
  to: To;
  onOpen: () => void;
}

/** Who a notification comes from: the portrait of the person with what they did, or what was decided or made. */
function Origin({ kind, actor }: Notification) {
  if (actor === null) {
    return (
      <span className="flex size-11 shrink-0 items-center justify-center rounded-full border border-line bg-surface">
        <NotificationGlyph kind={kind} colored className="size-5" />
      </span>
    );
  }
  return (
    <span className="relative shrink-0">
      <Avatar src={actor.avatar_url} initials={initialsOf(actor.username, null)} size="row" />
      <span className="absolute -right-1 -bottom-1 flex size-6 items-center justify-center rounded-full border border-line bg-canvas">
        <NotificationGlyph kind={kind} colored className="size-3.5" />
      </span>
    </span>
  );
}

/** One notification on the page of all: a link to its outfit. Unread ones carry a dot and, for screen readers, the word. */
export function NotificationRow({
  notification,
  ofNamedDay = false,
  to,
  onOpen,
}: NotificationRowProps) {
  const { outfit, read_at, created_at } = notification;
  const { title, text } = describeNotification(notification);
  const isUnread = read_at === null;
  return (
    <Link
      to={to}
      onClick={onOpen}
      className={cn(
        "flex items-center gap-4 rounded-md px-3 py-4 transition-colors hover:bg-sheen",
        isUnread && "bg-surface",
      )}
    >
      <Origin {...notification} />
      <span className="min-w-0 flex-1">
        <span className="flex items-center gap-2">
          <span className={cn("text-small", isUnread && "font-medium")}>{title}</span>
          {isUnread && (
            <span className="size-2 shrink-0 rounded-full bg-accent">
              <span className="sr-only">Unread</span>
            </span>
          )}
        </span>
        <span className="mt-0.5 block text-ink-soft text-small">{text}</span>
        <time dateTime={created_at} className="mt-0.5 block text-caption text-ink-soft">
          {ofNamedDay ? formatClock(created_at) : formatMoment(created_at)}
        </time>
      </span>
      {outfit !== null && (
        <Picture
          url={outfit.main_image}
          alt=""
          name={outfit.name}
          sizes="56px"
          width={1200}
          height={1500}
          placeholderColor={outfit.main_image_color}
          className="h-17.5 w-14 shrink-0 rounded-sm"
        />
      )}
    </Link>
  );
}
