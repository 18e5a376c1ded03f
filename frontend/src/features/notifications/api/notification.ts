import type { NotificationKind } from "@/lib/database";

export const notificationColumns =
  "id, kind, reason, read_at, created_at, outfit:combines(id, slug, name, main_image, main_image_color), actor:profiles!notifications_actor_id_fkey(username, full_name, avatar_url)";

/** A notification to a creator about one of their outfits, or to the owner of a picture about it. */
export interface Notification {
  id: string;
  kind: NotificationKind;
  /** Why the outfit was rejected, if the administrator wrote a reason. */
  reason: string | null;
  read_at: string | null;
  created_at: string;
  outfit: {
    id: string;
    slug: string;
    name: string;
    main_image: string | null;
    main_image_color: string | null;
  } | null;
  /** The user who liked the outfit or follows the addressee; null for the others. */
  actor: { username: string | null; full_name: string | null; avatar_url: string | null } | null;
}

function nameOf(actor: Notification["actor"]): string {
  return actor?.username ? `@${actor.username}` : "Somebody";
}

/** The two lines of a notification. */
export function describeNotification({ kind, reason, outfit, actor }: Notification): {
  title: string;
  text: string;
} {
  const name = outfit?.name ?? "Your outfit";
  switch (kind) {
    case "liked":
      return { title: "New outfit liked", text: `${nameOf(actor)} liked ${name}.` };
    case "approved":
      return { title: "Outfit approved", text: `${name} is live.` };
    case "rejected":
      return {
        title: "Outfit rejected",
        text: `${name} was not approved.${reason ? ` ${reason}` : ""}`,
      };
    case "picture_ready":
      return { title: "Picture ready", text: `See ${name} on you.` };
    case "picture_failed":
      return { title: "Picture failed", text: `${name} could not be shown on you.` };
    case "followed":
      return { title: "New follower", text: `${nameOf(actor)} follows you.` };
  }
}
