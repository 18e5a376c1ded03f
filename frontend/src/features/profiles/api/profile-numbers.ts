import { queryOptions } from "@tanstack/react-query";
import { profileKeys } from "@/lib/query-keys";
import { rowsOf } from "@/lib/service-error";
import { supabase } from "@/lib/supabase";

/** How many published outfits and likes a creator has, and how many follow and are followed. */
export function profileNumbersQuery(profileId: string) {
  return queryOptions({
    queryKey: profileKeys.numbersOf(profileId),
    queryFn: async ({ signal }) =>
      rowsOf(
        await supabase
          .rpc("profile_numbers", { profile_id: profileId }, { get: true })
          .abortSignal(signal)
          .single(),
      ),
  });
}
