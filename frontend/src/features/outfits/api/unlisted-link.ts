import { queryOptions } from "@tanstack/react-query";
import { outfitKeys } from "@/lib/query-keys";
import { rowsOf } from "@/lib/service-error";
import { supabase } from "@/lib/supabase";

/** By what an unlisted outfit of the user is found: the last segment of its address. */
export function unlistedLinkQuery(outfitId: string) {
  return queryOptions({
    queryKey: outfitKeys.link(outfitId),
    queryFn: async ({ signal }): Promise<string> =>
      rowsOf(await supabase.rpc("unlisted_link", { outfit_id: outfitId }).abortSignal(signal)),
  });
}
