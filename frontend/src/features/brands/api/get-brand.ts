import { queryOptions } from "@tanstack/react-query";
import { isUuid } from "@/lib/patterns";
import { resultOf } from "@/lib/service-error";
import { supabase } from "@/lib/supabase";

/** A maker of items. */
export interface Brand {
  id: string;
  name: string;
  /** Root-relative path or absolute URL. */
  logo: string | null;
  description: string | null;
}

/** Reads a brand by its id; null when there is none. */
export function brandQuery(id: string) {
  return queryOptions({
    queryKey: ["brands", "one", id],
    queryFn: async ({ signal }): Promise<Brand | null> => {
      if (!isUuid(id)) return null;
      return resultOf(
        await supabase
          .from("brands")
          .select("id, name, logo, description")
          .eq("id", id)
          .abortSignal(signal)
          .maybeSingle(),
      );
    },
  });
}
