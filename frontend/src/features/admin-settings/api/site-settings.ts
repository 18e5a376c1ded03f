import { queryOptions } from "@tanstack/react-query";
import * as z from "zod/mini";
import { adminKey } from "@/lib/admin-key";
import { nameSchema } from "@/lib/admin-schemas";
import { refuseOvertaken } from "@/lib/save-changes";
import { rowsOf, ServiceError } from "@/lib/service-error";
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
  const present = rowsOf(await supabase.from("site_settings").select(columns).single());
  refuseOvertaken(before, values, present);
  const response = await supabase
    .from("site_settings")
    .update(values)
    .eq("id", true)
    .select(columns);
  const [saved] = rowsOf(response);
  // Row-level security hides the row from those who may not change it.
  if (saved === undefined) {
    throw new ServiceError("You may not change the settings.", "", response.status);
  }
  // The open pages of this browser are updated immediately, others within a minute.
  setSite({ name: saved.site_name, registrationOpen: saved.registration_open });
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
