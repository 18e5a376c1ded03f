import { queryOptions, useQuery } from "@tanstack/react-query";
import { outfitKeys } from "@/lib/query-keys";
import { resultOf } from "@/lib/service-error";
import { supabase } from "@/lib/supabase";

function savesQuery(userId: string, outfitId: string) {
  return queryOptions({
    queryKey: outfitKeys.saves(userId, outfitId),
    queryFn: async ({ signal }): Promise<number | null> =>
      resultOf(await supabase.rpc("outfit_saves", { outfit_id: outfitId }).abortSignal(signal)),
  });
}

/** "Saved by 3": how many have bookmarked an outfit, for its creator; nothing while unknown or nobody has. */
export function SavedBy({ userId, outfitId }: { userId: string; outfitId: string }) {
  const { data } = useQuery(savesQuery(userId, outfitId));
  if (!data) return null;
  return (
    <p className="ml-3 text-ink-soft text-small tabular-nums">
      Saved by {data.toLocaleString("en-US")}
    </p>
  );
}
