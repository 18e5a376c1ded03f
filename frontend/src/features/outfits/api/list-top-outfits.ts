import { queryOptions } from "@tanstack/react-query";
import { outfitKeys } from "@/lib/query-keys";
import { rowsOf } from "@/lib/service-error";
import { supabase } from "@/lib/supabase";
import { type Outfit, outfitColumns } from "./outfit";

/** Time ranges of the ranking, in days before now. */
export const topPeriods = [
  { value: "today", label: "Today", days: 1 },
  { value: "week", label: "This Week", days: 7 },
  { value: "month", label: "This Month", days: 30 },
  { value: "year", label: "This Year", days: 365 },
  { value: "all", label: "All Time", days: null },
] as const;

export type TopPeriod = (typeof topPeriods)[number]["value"];

const maxResults = 50;
const dayMs = 24 * 60 * 60 * 1000;

export function periodStart(period: TopPeriod, now: Date): string | undefined {
  const days = topPeriods.find((candidate) => candidate.value === period)?.days ?? null;
  return days === null ? undefined : new Date(now.getTime() - days * dayMs).toISOString();
}

/** The most liked outfits of a period, ranked by the database. */
export function topOutfitsQuery(period: TopPeriod) {
  return queryOptions({
    queryKey: outfitKeys.top(period),
    queryFn: async ({ signal }): Promise<Outfit[]> => {
      const since = periodStart(period, new Date());
      return rowsOf(
        await supabase
          .rpc("top_outfits", { max_results: maxResults, ...(since !== undefined && { since }) })
          .select(outfitColumns)
          .abortSignal(signal),
      );
    },
  });
}
