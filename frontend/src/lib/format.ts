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

const days = new Intl.DateTimeFormat("en-US", { dateStyle: "medium" });

/** The local day of a time stamp of the database, such as `Nov 22, 2026`. */
export function formatDate(timestamp: string): string {
  return days.format(new Date(timestamp));
}

const moments = new Intl.DateTimeFormat("en-US", { dateStyle: "medium", timeStyle: "short" });

/** The local day and time of a time stamp of the database, such as `Nov 22, 2026, 2:05 PM`. */
export function formatMoment(timestamp: string): string {
  return moments.format(new Date(timestamp));
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
