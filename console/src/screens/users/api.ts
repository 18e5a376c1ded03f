/** Requests of the users screen: the list by the console's keyset reads, everything else by the public Auth API. */
import { infiniteQueryOptions, queryOptions } from "@tanstack/react-query";
import { request, withQuery } from "@/api/client";
import { parseExactMembers } from "@/lib/json-text";
import { readUserRows, type UserRow, userColumns } from "./user-model";
import type { UserSearch } from "./user-search";

const service = "/api/proxy/auth";

interface RowsAnswer {
  columns: { name: string; type: string }[];
  rows: (string | null)[][];
  next: string | null;
}

export interface UserPage {
  users: UserRow[];
  next: string | null;
}

export const usersKey = ["users"];

/** Users that a search finds, page by page by key, so that the millionth is as near as the first. */
export function usersQuery(table: string, key: string, search: UserSearch) {
  return infiniteQueryOptions({
    queryKey: [...usersKey, "list", key],
    initialPageParam: null as string | null,
    queryFn: async ({ signal, pageParam }): Promise<UserPage> => {
      const answer = await request<RowsAnswer>("/api/rows/read", {
        json: {
          table,
          columns: userColumns,
          filters: search.filters,
          sort: search.sort,
          limit: 100,
          ...(pageParam !== null && { after: pageParam }),
        },
        signal,
      });
      return { users: readUserRows(answer.columns, answer.rows), next: answer.next };
    },
    getNextPageParam: (page) => page.next,
  });
}

/** How many users a search finds: exact where that is cheap, else PostgreSQL's estimate. */
export function userCountQuery(table: string, key: string, search: UserSearch) {
  return queryOptions({
    queryKey: [...usersKey, "count", key],
    queryFn: ({ signal }) =>
      request<{ count: number; exact: boolean }>("/api/rows/count", {
        json: { table, filters: search.filters, exact: false },
        signal,
      }),
    staleTime: 30_000,
  });
}

export interface Identity {
  id: string;
  identity_id: string;
  provider: string;
  email?: string | null;
  identity_data: Record<string, unknown> | null;
  created_at: string | null;
  last_sign_in_at: string | null;
}

export interface Factor {
  id: string;
  friendly_name?: string | null;
  factor_type: string;
  status: string;
  phone?: string | null;
  created_at: string;
}

/** A user as the Auth API answers. */
export interface User {
  id: string;
  email?: string | null;
  phone?: string | null;
  role?: string | null;
  created_at: string;
  updated_at?: string | null;
  confirmed_at?: string | null;
  email_confirmed_at?: string | null;
  phone_confirmed_at?: string | null;
  invited_at?: string | null;
  last_sign_in_at?: string | null;
  banned_until?: string | null;
  deleted_at?: string | null;
  is_anonymous?: boolean;
  new_email?: string | null;
  app_metadata: Record<string, unknown>;
  user_metadata: Record<string, unknown>;
  identities?: Identity[] | null;
  factors?: Factor[] | null;
}

/** A user with the numbers of the metadata as `parseExact` has them. */
const parseUser = (text: string) => parseExactMembers(text, ["app_metadata", "user_metadata"]);

export function readUser(id: string, signal?: AbortSignal): Promise<User> {
  const path = `${service}/admin/users/${encodeURIComponent(id)}`;
  return request<User>(path, { signal, parse: parseUser });
}

export function userQuery(id: string) {
  return queryOptions({
    queryKey: [...usersKey, "one", id],
    queryFn: ({ signal }) => readUser(id, signal),
    retry: false,
  });
}

export interface NewUser {
  email?: string;
  phone?: string;
  password?: string;
  email_confirm?: boolean;
  phone_confirm?: boolean;
  user_metadata?: Record<string, unknown>;
}

export function createUser(user: NewUser): Promise<User> {
  return request(`${service}/admin/users`, { json: user });
}

export function inviteUser(email: string, data: Record<string, unknown>): Promise<User> {
  return request(`${service}/invite`, { json: { email, data } });
}

export interface UserChange {
  email?: string;
  phone?: string;
  password?: string;
  email_confirm?: boolean;
  phone_confirm?: boolean;
  ban_duration?: string;
  app_metadata?: Record<string, unknown>;
  user_metadata?: Record<string, unknown>;
}

export function updateUser(id: string, change: UserChange): Promise<User> {
  return request(`${service}/admin/users/${encodeURIComponent(id)}`, {
    method: "PUT",
    json: change,
    parse: parseUser,
  });
}

/** Deletes a user. A soft deletion keeps a row without address and metadata, so that references to it stay valid. */
export function deleteUser(id: string, isSoft: boolean): Promise<void> {
  return request(`${service}/admin/users/${encodeURIComponent(id)}`, {
    method: "DELETE",
    json: { should_soft_delete: isSoft },
  });
}

export function deleteFactor(userId: string, factorId: string): Promise<void> {
  return request(
    `${service}/admin/users/${encodeURIComponent(userId)}/factors/${encodeURIComponent(factorId)}`,
    { method: "DELETE" },
  );
}

export type MailKind = "recovery" | "magiclink" | "signup";

/** Has the service send the mail of this kind, as if the user had asked for it. */
export function sendMail(kind: MailKind, email: string): Promise<void> {
  switch (kind) {
    case "recovery":
      return request(`${service}/recover`, { json: { email } });
    case "magiclink":
      return request(`${service}/otp`, { json: { email, create_user: false } });
    case "signup":
      return request(`${service}/resend`, { json: { type: "signup", email } });
  }
}

export interface ActionLink {
  action_link: string;
  email_otp: string;
}

/** The link and the code of a mail, without the mail. A confirmation is a magic link, which confirms the address as well. */
export function createLink(kind: "recovery" | "magiclink", email: string): Promise<ActionLink> {
  return request(`${service}/admin/generate_link`, { json: { type: kind, email } });
}

export interface AuthSession {
  id: string;
  user_id: string;
  created_at: string;
  refreshed_at: string | null;
  not_after: string | null;
  aal: string | null;
  ip: string | null;
  user_agent: string | null;
}

export function sessionsQuery(userId: string) {
  return queryOptions({
    queryKey: [...usersKey, "sessions", userId],
    queryFn: async ({ signal }) => {
      const { sessions } = await request<{ sessions: AuthSession[] }>(
        withQuery("/api/auth/sessions", { user: userId }),
        { signal },
      );
      return sessions;
    },
  });
}

export function endSession(id: string): Promise<void> {
  return request(`/api/auth/sessions/${encodeURIComponent(id)}`, { method: "DELETE" });
}

/** Signs a user out everywhere. */
export function endSessions(userId: string): Promise<void> {
  return request(withQuery("/api/auth/sessions", { user: userId }), { method: "DELETE" });
}

/** An access token of at most ten minutes for a user. It cannot be renewed, and the audit names who asked for it. */
export function impersonate(userId: string): Promise<{ access_token: string; expires_at: number }> {
  return request("/api/auth/impersonate", { json: { user_id: userId } });
}

export interface AuditEntry {
  id: string;
  payload: { action?: string; actor_username?: string; log_type?: string; traits?: unknown };
  created_at: string;
  ip_address: string | null;
}

/** Auth's audit entries about a user, newest first. */
export function userAuditQuery(author: string) {
  return queryOptions({
    queryKey: [...usersKey, "audit", author],
    queryFn: ({ signal }) =>
      request<AuditEntry[]>(
        `${service}/admin/audit?per_page=50&query=${encodeURIComponent(`author:${author}`)}`,
        { signal },
      ),
    retry: false,
  });
}
