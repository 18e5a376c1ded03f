/** Requests of the settings screen. */
import { queryOptions } from "@tanstack/react-query";
import { request } from "@/api/client";

export interface Check {
  name: string;
  status: "ok" | "warning" | "error";
  message: string;
  remedy: string | null;
}

export const doctorQuery = queryOptions({
  queryKey: ["doctor"],
  queryFn: ({ signal }) => request<{ checks: Check[] }>("/api/doctor", { signal }),
  // The checks query the database and the file system, so they only run while the screen is open.
  staleTime: 30_000,
});

export interface Account {
  name: string;
  level: string;
  created_at: string;
  last_sign_in_at: string | null;
  sessions: number;
}

/** A user of the project who may sign in to the console. */
export interface Member {
  name: string;
  level: string;
  has_factor: boolean;
}

export const accountsQuery = queryOptions({
  queryKey: ["accounts"],
  queryFn: ({ signal }) =>
    request<{ accounts: Account[]; members: Member[] }>("/api/accounts", { signal }),
});
