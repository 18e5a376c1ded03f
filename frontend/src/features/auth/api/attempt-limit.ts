/** Five tries per address in a quarter of an hour. A courtesy: the server has limits of its own. */
const triesAllowed = 5;
const windowMs = 15 * 60 * 1000;
const storageKey = "lookbook:sign-in-attempts";

type Attempts = Record<string, number[]>;

function read(now: number): Attempts {
  let stored: unknown;
  try {
    stored = JSON.parse(localStorage.getItem(storageKey) ?? "{}");
  } catch {
    return {};
  }
  if (typeof stored !== "object" || stored === null) return {};
  const recent: Attempts = {};
  for (const [email, times] of Object.entries(stored)) {
    if (!Array.isArray(times)) continue;
    const kept = times.filter(
      (time): time is number => typeof time === "number" && now - time < windowMs,
    );
    if (kept.length > 0) recent[email] = kept;
  }
  return recent;
}

function write(attempts: Attempts): void {
  localStorage.setItem(storageKey, JSON.stringify(attempts));
}

export const attemptLimit = {
  isReached(email: string, now = Date.now()): boolean {
    return (read(now)[email]?.length ?? 0) >= triesAllowed;
  },
  count(email: string, now = Date.now()): void {
    const attempts = read(now);
    write({ ...attempts, [email]: [...(attempts[email] ?? []), now] });
  },
  forget(email: string, now = Date.now()): void {
    const { [email]: _forgotten, ...rest } = read(now);
    write(rest);
  },
};
