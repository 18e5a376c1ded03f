import type { Notification } from "@/features/notifications/api/notification";
import { paths } from "@/lib/paths";

/** Where a notification leads: to the outfit that it is about. */
export function notificationPath({ outfit }: Notification): string {
  return outfit === null ? paths.notifications : paths.outfit(outfit.slug);
}
