/** A user as the list reads it from `auth.users`, and descriptions of the account's state. */
import { parseExact } from "@/lib/json-text";

/** Columns that the list reads. Password hashes and tokens are none of them. */
export const userColumns = [
  "id",
  "email",
  "phone",
  "created_at",
  "last_sign_in_at",
  "confirmed_at",
  "email_confirmed_at",
  "banned_until",
  "deleted_at",
  "is_anonymous",
  "is_sso_user",
  "raw_app_meta_data",
] as const;

export interface UserRow {
  id: string;
  email: string | null;
  phone: string | null;
  createdAt: string | null;
  lastSignInAt: string | null;
  /** The earlier of the two confirmations, of the address and of the number. */
  confirmedAt: string | null;
  emailConfirmedAt: string | null;
  bannedUntil: string | null;
  deletedAt: string | null;
  isAnonymous: boolean;
  isSso: boolean;
  providers: string[];
}

/** Makes users of the rows of `POST /api/rows/read`, whose values are PostgreSQL's texts in the order of `columns`. */
export function readUserRows(
  columns: readonly { name: string }[],
  rows: readonly (readonly (string | null)[])[],
): UserRow[] {
  const place = new Map(columns.map(({ name }, index) => [name, index]));
  return rows.map((row) => {
    const value = (name: (typeof userColumns)[number]) => row[place.get(name) ?? -1] ?? null;
    return {
      id: value("id") ?? "",
      email: value("email") || null,
      phone: value("phone") || null,
      createdAt: value("created_at"),
      lastSignInAt: value("last_sign_in_at"),
      confirmedAt: value("confirmed_at"),
      emailConfirmedAt: value("email_confirmed_at"),
      bannedUntil: value("banned_until"),
      deletedAt: value("deleted_at"),
      isAnonymous: isTrue(value("is_anonymous")),
      isSso: isTrue(value("is_sso_user")),
      providers: readProviders(value("raw_app_meta_data")),
    };
  });
}

function isTrue(text: string | null): boolean {
  return text === "t" || text === "true";
}

function readProviders(text: string | null): string[] {
  try {
    const data: unknown = JSON.parse(text ?? "{}");
    if (typeof data !== "object" || data === null) return [];
    if ("providers" in data && Array.isArray(data.providers)) return data.providers.map(String);
    return "provider" in data ? [String(data.provider)] : [];
  } catch {
    return [];
  }
}

/** PostgreSQL writes times with a space and a short zone, which not every browser reads. */
export function parseTime(text: string | null): Date | null {
  if (text === null || text === "") return null;
  const iso = text.replace(" ", "T").replace(/([+-]\d\d)$/, "$1:00");
  const time = new Date(iso);
  return Number.isNaN(time.getTime()) ? null : time;
}

export interface UserBadge {
  label: string;
  tone: "neutral" | "warning" | "danger" | "info";
}

/** Badges for unusual states of an account, the most important first. */
export function badgesOf(user: UserRow, now: Date): UserBadge[] {
  const badges: UserBadge[] = [];
  const bannedUntil = parseTime(user.bannedUntil);
  if (user.deletedAt !== null) badges.push({ label: "deleted", tone: "danger" });
  if (bannedUntil !== null && bannedUntil > now) badges.push({ label: "banned", tone: "danger" });
  if (user.isAnonymous) badges.push({ label: "anonymous", tone: "neutral" });
  else if (user.confirmedAt === null) badges.push({ label: "unconfirmed", tone: "warning" });
  else if (user.email !== null && user.emailConfirmedAt === null) {
    badges.push({ label: "mail unconfirmed", tone: "warning" });
  }
  if (user.isSso) badges.push({ label: "SSO", tone: "info" });
  return badges;
}

/**
 * Whether somebody uses the account who has not proven its address, neither by a mail nor at a provider. Auth sends nothing there, and
 * whoever proves the address gets an account of their own.
 */
export function claimsAddress(user: {
  email?: string | null;
  email_confirmed_at?: string | null;
  phone_confirmed_at?: string | null;
  last_sign_in_at?: string | null;
  is_anonymous?: boolean;
  identities?:
    | readonly {
        provider: string;
        email?: string | null;
        identity_data: Record<string, unknown> | null;
      }[]
    | null;
}): boolean {
  const isUsed =
    user.last_sign_in_at != null || user.phone_confirmed_at != null || user.is_anonymous === true;
  const address = user.email?.toLowerCase();
  const isProven = user.identities?.some(
    ({ provider, email, identity_data: data }) =>
      provider !== "phone" && email?.toLowerCase() === address && data?.email_verified === true,
  );
  return Boolean(address) && user.email_confirmed_at == null && isUsed && isProven !== true;
}

/** The name by which the list and the panel call a user. */
export function nameOfUser(user: {
  id: string;
  email?: string | null;
  phone?: string | null;
}): string {
  if (user.email) return user.email;
  return user.phone ? `+${user.phone}` : user.id;
}

/** Durations that a ban can have, in the form that the service reads. */
export const banDurations = [
  { value: "1h", label: "1 hour" },
  { value: "24h", label: "1 day" },
  { value: "168h", label: "1 week" },
  { value: "720h", label: "30 days" },
  { value: "876000h", label: "100 years" },
] as const;

/** Reads an object that was typed as JSON, with exact numbers as `parseExact` has them; the fault is a sentence. */
export function parseMetadata(
  text: string,
): { value: Record<string, unknown> } | { fault: string } {
  if (text.trim() === "") return { value: {} };
  try {
    const value = parseExact(text);
    if (typeof value !== "object" || value === null || Array.isArray(value)) {
      return { fault: 'Metadata is a JSON object, such as {"plan": "pro"}.' };
    }
    return { value: value as Record<string, unknown> };
  } catch (error) {
    return { fault: error instanceof Error ? error.message : "This is not JSON." };
  }
}
