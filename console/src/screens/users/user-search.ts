/**
 * How users are found: what was typed becomes a filter that an index of `auth.users` serves, so that a million users are searched
 * as quickly as ten. Source: CONSOLE-110.
 */

/** A filter of `POST /api/rows/read`. */
export interface UserFilter {
  column: string;
  operator: string;
  value: string;
}

export interface UserSort {
  column: string;
  descending: boolean;
  nulls_first: boolean;
}

export interface UserSearch {
  kind: "all" | "id" | "email" | "phone";
  filters: UserFilter[];
  sort: UserSort[];
}

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;
const beginningOfUuid = /^[0-9a-f]{8}-[0-9a-f-]*$/i;

/** Kinds of accounts that the list can be limited to. */
export const userKinds = ["all", "banned", "anonymous", "unconfirmed", "sso"] as const;
export type UserKind = (typeof userKinds)[number];

export function parseUserKind(text: string | null): UserKind {
  return userKinds.find((kind) => kind === text) ?? "all";
}

/** The filters and the order for a search text and a kind of account. `now` decides which bans are still in force. */
export function searchUsers(text: string, kind: UserKind, now: Date): UserSearch {
  const found = searchByText(text.trim());
  return { ...found, filters: [...found.filters, ...filtersOfKind(kind, now)] };
}

function searchByText(term: string): UserSearch {
  if (term === "") {
    return { kind: "all", filters: [], sort: sortBy("created_at", true) };
  }
  if (uuid.test(term)) {
    return { kind: "id", filters: [filter("id", "eq", term.toLowerCase())], sort: sortBy("id") };
  }
  if (beginningOfUuid.test(term)) {
    const [first, last] = uuidRange(term.toLowerCase());
    const filters = [filter("id", "gte", first), filter("id", "lte", last)];
    return { kind: "id", filters, sort: sortBy("id") };
  }
  const phone = term.replace(/[\s().+-]/g, "");
  if (/^\d{3,15}$/.test(phone)) {
    // Auth stores numbers without the plus sign.
    return { kind: "phone", filters: rangeOf("phone", phone), sort: sortBy("phone") };
  }
  const email = term.toLowerCase();
  if (/^[^\s@]+@[^\s@]+\.[^\s@]{2,}$/.test(email)) {
    return { kind: "email", filters: [filter("email", "eq", email)], sort: sortBy("id") };
  }
  return { kind: "email", filters: rangeOf("email", email), sort: sortBy("email") };
}

/**
 * Texts that begin with these characters, as a range, because `like` cannot use an index whose order follows a language. The upper
 * end is the highest character of the basic plane, which follows all characters of addresses and digits.
 */
function rangeOf(column: string, beginning: string): UserFilter[] {
  return [
    filter(column, "gte", beginning),
    filter(column, "lt", `${beginning}\uffff`),
    filter(column, "like", `${escapePattern(beginning)}%`),
  ];
}

function escapePattern(text: string): string {
  return text.replace(/[\\%_]/g, "\\$&");
}

/** The lowest and the highest UUID that begin with these characters. */
function uuidRange(beginning: string): [string, string] {
  const digits = beginning.replaceAll("-", "").slice(0, 32);
  return [format(digits.padEnd(32, "0")), format(digits.padEnd(32, "f"))];
}

function format(digits: string): string {
  return [
    digits.slice(0, 8),
    digits.slice(8, 12),
    digits.slice(12, 16),
    digits.slice(16, 20),
    digits.slice(20),
  ].join("-");
}

function filtersOfKind(kind: UserKind, now: Date): UserFilter[] {
  switch (kind) {
    case "all":
      return [];
    case "banned":
      return [filter("banned_until", "gt", now.toISOString())];
    case "anonymous":
      return [filter("is_anonymous", "is", "true")];
    case "unconfirmed":
      return [filter("confirmed_at", "is", "null"), filter("is_anonymous", "is", "false")];
    case "sso":
      return [filter("is_sso_user", "is", "true")];
  }
}

function filter(column: string, operator: string, value: string): UserFilter {
  return { column, operator, value };
}

function sortBy(column: string, descending = false): UserSort[] {
  return [{ column, descending, nulls_first: false }];
}
