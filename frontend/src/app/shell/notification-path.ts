import type { Notification } from "@/features/notifications/api/notification";
import { paths } from "@/lib/paths";

/**
 * Where a notification leads: to the outfit that it is about, of a rejected one to its editing, which shows the reason; of a follower to
 * their page.
 */
export function notificationPath({ kind, outfit, actor }: Notification): string {
  if (kind === "followed" && actor?.username) return paths.profile(actor.username);
  if (outfit === null) return paths.notifications;
  return kind === "rejected" ? paths.editOutfit(outfit.id) : paths.outfit(outfit.slug);
}
