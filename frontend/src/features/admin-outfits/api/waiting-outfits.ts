import { queryOptions } from "@tanstack/react-query";
import { adminListKey } from "@/lib/admin-list";
import { type AdminOutfit, readOutfits } from "./outfits";

/** How many the dashboard shows. */
const shownCount = 6;

/** The submissions that have waited longest. */
export function waitingOutfitsQuery() {
  return queryOptions({
    // Below the key of the section's table, so that a decision there refreshes it.
    queryKey: [...adminListKey("combines"), "waiting"],
    queryFn: async ({ signal }): Promise<AdminOutfit[]> => {
      const oldest = { term: "", sort: "created_at", ascending: true };
      const page = { filters: { status: "pending" }, from: 0, to: shownCount - 1 };
      return (await readOutfits({ ...oldest, ...page }, signal)).rows;
    },
    staleTime: 10_000,
    refetchOnWindowFocus: true,
  });
}
