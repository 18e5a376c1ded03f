import { localStore } from "@/lib/browser-storage";

/** Attempts per e-mail address in 15 minutes. Only saves users a refusal: the server enforces its own limits. */
const maxAttempts = 5;
const windowMs = 15 * 60 * 1000;
const storageKey = "lookbook:sign-in-attempts";

/** Times of failed attempts in milliseconds since the epoch, by e-mail address. */
type Attempts = Record<string, number[]>;

function read(now: number): Attempts {
  let stored: unknown;
  try {
    stored = JSON.parse(localStore.get(storageKey) ?? "{}");
  } catch {
    return {};
  }
  if (typeof stored !== "object" || stored === null) return {};
  const recent: Attempts = {};
  for (const [email, times] of Object.entries(stored)) {
    if (!Array.isArray(times)) continue;
    const counted = times.filter(
      (time): time is number => typeof time === "number" && now - time < windowMs,
    );
    if (counted.length > 0) recent[email] = counted;
  }
  return recent;
}

function write(attempts: Attempts): void {
  localStore.set(storageKey, JSON.stringify(attempts));
}

/** Counts failed sign-ins in this browser. */
export const attemptLimit = {
  isReached(email: string, now = Date.now()): boolean {
    return (read(now)[email]?.length ?? 0) >= maxAttempts;
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
