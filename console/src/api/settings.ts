/** The project's configuration: keys with their values and origins. */
import { queryOptions } from "@tanstack/react-query";
import { request } from "@/api/client";
import { parseExact } from "@/lib/json-text";

/** Where a value comes from. */
export type SettingOrigin =
  | { file: string; line: number; environment?: string }
  | { environment: string }
  | { flag: string }
  | "default";

export interface Setting {
  key: string;
  /** With numbers as `parseExact` has them. Null for secrets, whose values the server never sends. */
  value: unknown;
  origin: SettingOrigin;
  secret: boolean;
  /** Whether a value is set. */
  set: boolean;
}

export const settingsQuery = queryOptions({
  queryKey: ["settings"],
  queryFn: async ({ signal }) => {
    const { settings } = await request<{ settings: Setting[] }>("/api/settings", {
      signal,
      parse: parseExact,
    });
    return settings;
  },
});
