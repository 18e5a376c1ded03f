import { useMutation, useQueryClient } from "@tanstack/react-query";
import { outfitKeys, profileKeys } from "@/lib/query-keys";
import { messageOf, rowsOf } from "@/lib/service-error";
import { supabase } from "@/lib/supabase";
import { toast } from "@/lib/toast";

/** Takes a published outfit of the user out of all lists, or puts it back. */
export function useListOutfit() {
  const queryClient = useQueryClient();
  return useMutation({
    mutationFn: async ({ id, listed }: { id: string; listed: boolean }) =>
      rowsOf(await supabase.rpc("set_outfit_listed", { outfit_id: id, listed })),
    onSuccess: (_, { listed }) =>
      listed
        ? toast("Listed again", "Everybody can find your outfit.", "success")
        : toast("Unlisted", "Only those who have its link see your outfit.", "success"),
    onError: (error) =>
      toast("Error", messageOf(error, "This could not be saved. Please try again."), "danger"),
    onSettled: () =>
      Promise.all([
        queryClient.invalidateQueries({ queryKey: outfitKeys.all() }),
        queryClient.invalidateQueries({ queryKey: profileKeys.numbers() }),
      ]),
  });
}
