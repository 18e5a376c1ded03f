const dollars = new Intl.NumberFormat("en-US", { style: "currency", currency: "USD" });
const dollarsWithoutCents = new Intl.NumberFormat("en-US", {
  style: "currency",
  currency: "USD",
  maximumFractionDigits: 0,
});

/** A price in dollars, with cents only when it has some. */
export function formatPrice(price: number): string {
  return Number.isInteger(price) ? dollarsWithoutCents.format(price) : dollars.format(price);
}

/** A price in dollars with its cents, as the admin area shows it. */
export function formatExactPrice(price: number): string {
  return dollars.format(price);
}

/** What stands in place of a time that the database has and JavaScript has not, such as `infinity`. */
const noTime = "no date";

function formatTime(format: Intl.DateTimeFormat, timestamp: string): string {
  const time = new Date(timestamp);
  return Number.isNaN(time.getTime()) ? noTime : format.format(time);
}

const days = new Intl.DateTimeFormat("en-US", { dateStyle: "medium" });

/** The local day of a time stamp of the database, such as `Nov 22, 2026`; never throws. */
export function formatDate(timestamp: string): string {
  return formatTime(days, timestamp);
}

const moments = new Intl.DateTimeFormat("en-US", { dateStyle: "medium", timeStyle: "short" });

/** The local day and time of a time stamp of the database, such as `Nov 22, 2026, 2:05 PM`; never throws. */
export function formatMoment(timestamp: string): string {
  return formatTime(moments, timestamp);
}

const clock = new Intl.DateTimeFormat("en-US", { timeStyle: "short" });

/** The local time of a time stamp of the database, such as `2:05 PM`; never throws. */
export function formatClock(timestamp: string): string {
  return formatTime(clock, timestamp);
}

/** Up to two letters for a missing avatar: from the username, else the e-mail address, else U. */
export function initialsOf(
  username: string | null | undefined,
  email: string | null | undefined,
): string {
  const source = username || email || "U";
  return source.slice(0, 2).toUpperCase();
}

export function capitalise(word: string): string {
  return word.charAt(0).toUpperCase() + word.slice(1);
}
