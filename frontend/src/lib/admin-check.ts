import { queryOptions } from "@tanstack/react-query";
import { rowsOf } from "@/lib/service-error";
import { isAdminKey } from "@/lib/session";
import { supabase } from "@/lib/supabase";

/** Milliseconds after which an open admin page checks again whether its user is still an administrator. */
const recheckMs = 60_000;

/**
 * Whether the signed-in user is an administrator, asked from the database whenever the admin area is entered. It only decides
 * what is shown: every request is checked by the database again.
 */
export function adminCheckQuery(userId: string) {
  return queryOptions({
    queryKey: isAdminKey(userId),
    staleTime: 0,
    refetchInterval: recheckMs,
    refetchOnWindowFocus: true,
    queryFn: async ({ signal }) => rowsOf(await supabase.rpc("is_admin_role").abortSignal(signal)),
  });
}
