/** Keys of the configuration with their values. */
import { queryOptions } from "@tanstack/react-query";
import { request } from "@/api/client";

/** Where a value comes from, as the server tells it. */
export type SettingOrigin =
  | { file: string; line: number; environment?: string }
  | { environment: string }
  | { flag: string }
  | "default";

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
