import type { Notification } from "@/features/notifications/api/notification";
import { paths } from "@/lib/paths";

/**
 * The page that a notification opens: the outfit that it is about; the form of a rejected outfit, which shows the reason; or the page of a
 * new follower.
 */
export function notificationPath({ kind, outfit, actor }: Notification): string {
  if (kind === "followed" && actor?.username) return paths.profile(actor.username);
  if (outfit === null) return paths.notifications;
  return kind === "rejected" ? paths.editOutfit(outfit.id) : paths.outfit(outfit.slug);
}
