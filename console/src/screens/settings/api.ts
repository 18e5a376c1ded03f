/** Requests of the settings screen. */
import { queryOptions } from "@tanstack/react-query";
import { request } from "@/api/client";
import type { SettingOrigin } from "@/components/setting-value";

export interface Setting {
  key: string;
  /** Null for secrets, whose value leaves the server for nobody. */
  value: unknown;
  origin: SettingOrigin;
  secret: boolean;
  /** Whether there is a value, which for secrets is all that is known here. */
  set: boolean;
}

export const settingsQuery = queryOptions({
  queryKey: ["settings"],
  queryFn: async ({ signal }) => {
    const { settings } = await request<{ settings: Setting[] }>("/api/settings", { signal });
    return settings;
  },
});

export interface Check {
  name: string;
  status: "ok" | "warning" | "error";
  message: string;
  remedy: string | null;
}

export const doctorQuery = queryOptions({
  queryKey: ["doctor"],
  queryFn: ({ signal }) => request<{ checks: Check[] }>("/api/doctor", { signal }),
  // The checks ask the database and the file system, so they run only when somebody looks.
  staleTime: 30_000,
});

export interface Account {
  name: string;
  level: string;
  created_at: string;
  last_sign_in_at: string | null;
  sessions: number;
}

export const accountsQuery = queryOptions({
  queryKey: ["accounts"],
  queryFn: ({ signal }) => request<{ accounts: Account[] }>("/api/accounts", { signal }),
});
