import { cn } from "@ui/cn";
import { Link, type To } from "react-router";
import { Avatar } from "@/components/ui/avatar";
import { Picture } from "@/components/ui/picture";
import { formatMoment, initialsOf } from "@/lib/format";
import { describeNotification, type Notification } from "../api/notification";
import { NotificationGlyph } from "./notification-glyph";

interface NotificationRowProps {
  notification: Notification;
  to: To;
  onOpen: () => void;
}

/** What a notification is about: the portrait of who follows, or the outfit. */
function Subject({ kind, outfit, actor }: Notification) {
  if (kind === "followed") {
    return (
      <span className="flex h-17.5 w-14 shrink-0 items-center justify-center">
        <Avatar src={actor?.avatar_url} initials={initialsOf(actor?.username, null)} size="md" />
      </span>
    );
  }
  return (
    <Picture
      url={outfit?.main_image ?? null}
      alt={outfit?.name ?? ""}
      sizes="56px"
      width={1200}
      height={1500}
      placeholderColor={outfit?.main_image_color ?? null}
      className="h-17.5 w-14 shrink-0 rounded-sm"
    />
  );
}

/** One notification on the page of all: a link to its outfit. Unread ones carry a dot and the word. */
export function NotificationRow({ notification, to, onOpen }: NotificationRowProps) {
  const { kind, read_at, created_at } = notification;
  const { title, text } = describeNotification(notification);
  return (
    <Link
      to={to}
      onClick={onOpen}
      className="flex items-center gap-4 rounded-md px-3 py-4 transition-colors hover:bg-sheen"
    >
      <Subject {...notification} />
      <span className="min-w-0 flex-1">
        <span className="flex items-center gap-2">
          <NotificationGlyph kind={kind} />
          <span className={cn("text-small", read_at === null && "font-medium")}>{title}</span>
        </span>
        <span className="mt-0.5 block text-ink-soft text-small">{text}</span>
        <time dateTime={created_at} className="mt-0.5 block text-caption text-ink-soft">
          {formatMoment(created_at)}
        </time>
      </span>
      {read_at === null && (
        <span className="inline-flex items-center gap-2 text-accent text-caption">
          <span aria-hidden="true" className="size-2 rounded-full bg-accent" />
          Unread
        </span>
      )}
    </Link>
  );
}
