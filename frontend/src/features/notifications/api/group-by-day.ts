import type { Notification } from "./notification";

export interface DayGroup {
  title: string;
  /** Whether the title names a day, and not a time of several. */
  isOneDay: boolean;
  notifications: Notification[];
}

const millisecondsOfDay = 86_400_000;

/** The first moment of the local day in which a time lies. */
function beginningOfDay(time: Date): number {
  return new Date(time.getFullYear(), time.getMonth(), time.getDate()).getTime();
}

const namedDays = ["Today", "Yesterday"];

function titleOf(timestamp: string, now: Date): string {
  // Rounded, because days in which the clocks change have 23 or 25 hours.
  const age = Math.round(
    (beginningOfDay(now) - beginningOfDay(new Date(timestamp))) / millisecondsOfDay,
  );
  // The server's clock may be ahead of the device's by some seconds around midnight.
  if (age <= 0) return "Today";
  if (age === 1) return "Yesterday";
  // A time that JavaScript does not have is not a number, and no comparison holds.
  return age < 7 ? "Last 7 days" : "Earlier";
}

/** Divides notifications, which are in order of time, by how many local days ago they came. */
export function groupByDay(notifications: readonly Notification[], now: Date): DayGroup[] {
  const groups: DayGroup[] = [];
  for (const notification of notifications) {
    const title = titleOf(notification.created_at, now);
    const last = groups.at(-1);
    if (last?.title === title) last.notifications.push(notification);
    else groups.push({ title, isOneDay: namedDays.includes(title), notifications: [notification] });
  }
  return groups;
}
