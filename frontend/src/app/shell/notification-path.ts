import type { Notification } from "@/features/notifications/api/notification";
import { paths } from "@/lib/paths";

/** Where a notification leads: to the outfit that it is about, of a rejected one to its editing, which shows the reason. */
export function notificationPath({ kind, outfit }: Notification): string {
  if (outfit === null) return paths.notifications;
  return kind === "rejected" ? paths.editOutfit(outfit.id) : paths.outfit(outfit.slug);
}
