import { queryOptions } from "@tanstack/react-query";
import { isUuid } from "@/lib/patterns";
import { collectionKeys } from "@/lib/query-keys";
import { rowsOf } from "@/lib/service-error";
import { supabase } from "@/lib/supabase";

/** A collection as whoever has its link reads it. */
export interface SharedCollection {
  id: string;
  name: string;
  /** Whose it is. */
  username: string | null;
  full_name: string | null;
  is_own: boolean;
}

/** A shared collection, or an own one; null where there is none that the caller may read. */
export function sharedCollectionQuery(collectionId: string) {
  return queryOptions({
    queryKey: collectionKeys.shared(collectionId),
    queryFn: async ({ signal }): Promise<SharedCollection | null> => {
      if (!isUuid(collectionId)) return null;
      const rows = rowsOf(
        await supabase
          .rpc("shared_collection", { collection_id: collectionId })
          .abortSignal(signal),
      );
      return rows[0] ?? null;
    },
  });
}
