import { queryOptions } from "@tanstack/react-query";
import * as z from "zod/mini";
import { adminKey } from "@/lib/admin-key";
import { nameSchema } from "@/lib/admin-schemas";
import { saveChangesBy } from "@/lib/save-changes";
import { rowsOf } from "@/lib/service-error";
import { setSite } from "@/lib/site";
import { supabase } from "@/lib/supabase";
import { useAdminChange } from "@/lib/use-admin-change";

export interface SiteSettings {
  site_name: string;
  registration_open: boolean;
  review_required: boolean;
}

export const siteNameSchema = z.object({
  site_name: nameSchema("Name must be at least 2 characters", 40),
});

const columns = "site_name, registration_open, review_required";

export function siteSettingsQuery() {
  return queryOptions({
    queryKey: [...adminKey, "site-settings"],
    queryFn: async ({ signal }): Promise<SiteSettings> =>
      rowsOf(await supabase.from("site_settings").select(columns).abortSignal(signal).single()),
  });
}

interface SettingsChange {
  values: Partial<SiteSettings>;
  /** The former values of the settings, for Undo. */
  before: Partial<SiteSettings>;
}

/** Saves settings that still are as `before` has them: a change is made to what was read, also by Undo. */
async function saveSettings({ values, before }: SettingsChange): Promise<void> {
  const key = { column: "id", value: true };
  const saved = await saveChangesBy<Partial<SiteSettings>>(
    "site_settings",
    key,
    before,
    values,
    columns,
  );
  if (saved === null) return;
  const { site_name, registration_open } = saved as unknown as SiteSettings;
  // The open pages of this browser are updated immediately, others within a minute.
  setSite({ name: site_name, registrationOpen: registration_open });
}

export function useSaveSettings() {
  return useAdminChange({
    change: saveSettings,
    success: "Settings saved",
    undo:
      ({ values, before }) =>
      () =>
        saveSettings({ values: before, before: values }),
  });
}
