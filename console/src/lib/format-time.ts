/** Formats a time in the browser's language and time zone, to the second; text that is not a time is returned unchanged. */
export function formatTime(time: string | Date): string {
  const date = typeof time === "string" ? new Date(time) : time;
  if (Number.isNaN(date.getTime())) return String(time);
  return date.toLocaleString(undefined, { dateStyle: "medium", timeStyle: "medium" });
}

/** The time of a day, with milliseconds, for lines that follow each other closely. */
export function formatClock(time: string | Date): string {
  const date = typeof time === "string" ? new Date(time) : time;
  if (Number.isNaN(date.getTime())) return String(time);
  const clock = date.toLocaleTimeString(undefined, {
    hour: "2-digit",
    minute: "2-digit",
    second: "2-digit",
    hour12: false,
  });
  return `${clock}.${String(date.getMilliseconds()).padStart(3, "0")}`;
}
