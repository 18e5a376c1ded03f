import { queryOptions } from "@tanstack/react-query";
import * as z from "zod/mini";
import { adminKey } from "@/lib/admin-key";
import { nameSchema } from "@/lib/admin-schemas";
import { isOvertaken, saveChangesBy } from "@/lib/save-changes";
import { rowsOf } from "@/lib/service-error";
import { setSite } from "@/lib/site";
import { supabase } from "@/lib/supabase";
import { useAdminChange } from "@/lib/use-admin-change";

export interface SiteSettings {
  version: number;
  site_name: string;
  registration_open: boolean;
  review_required: boolean;
}

export const siteNameSchema = z.object({
  site_name: nameSchema("Name must be at least 2 characters", 40),
});

const columns = "version, site_name, registration_open, review_required";

export function siteSettingsQuery() {
  return queryOptions({
    queryKey: [...adminKey, "site-settings"],
    queryFn: async ({ signal }): Promise<SiteSettings> =>
      rowsOf(await supabase.from("site_settings").select(columns).abortSignal(signal).single()),
  });
}

type SettingsValues = Partial<Omit<SiteSettings, "version">>;

interface SettingsChange {
  values: SettingsValues;
  /** The former values of the settings, for Undo. */
  before: SettingsValues;
  /** The version that had them; not known of an Undo. */
  version?: number;
}

/** Returns the saved version, or null when nothing was changed. Saves settings that still are as `before` has them: a change is made to what was read, also by Undo. */
async function saveSettings({ values, before, version }: SettingsChange): Promise<number | null> {
  const edited = { table: "site_settings", column: "id", value: true, version } as const;
  const { row: saved } = await saveChangesBy<SettingsValues>(edited, before, values, columns);
  if (saved === null) return null;
  const { version: now, site_name, registration_open } = saved as unknown as SiteSettings;
  // The open pages of this browser are updated immediately, others within a minute.
  setSite({ name: site_name, registrationOpen: registration_open });
  return now;
}

export function useSaveSettings() {
  return useAdminChange({
    change: saveSettings,
    success: "Settings saved",
    isShownByForm: isOvertaken,
    undo:
      ({ values, before }) =>
      () =>
        saveSettings({ values: before, before: values }),
  });
}
