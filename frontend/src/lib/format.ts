const dollars = new Intl.NumberFormat("en-US", { style: "currency", currency: "USD" });
const dollarsWithoutCents = new Intl.NumberFormat("en-US", {
  style: "currency",
  currency: "USD",
  maximumFractionDigits: 0,
});

/** Prices are shown in dollars, with cents only where there are any. */
export function formatPrice(price: number): string {
  return Number.isInteger(price) ? dollarsWithoutCents.format(price) : dollars.format(price);
}

/** Up to two letters that stand in for a missing avatar: of the username, else the e-mail, else U. */
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
