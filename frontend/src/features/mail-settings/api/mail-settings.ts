import { queryOptions, useMutation, useQueryClient } from "@tanstack/react-query";
import { stale } from "@/lib/query-client";
import { mailSettingsKeys } from "@/lib/query-keys";
import { messageOf, resultOf } from "@/lib/service-error";
import { supabase } from "@/lib/supabase";
import { toast } from "@/lib/toast";

/** Whether a user gets notices by mail. Whoever has never decided does. */
export function mailNoticesQuery(userId: string) {
  return queryOptions({
    queryKey: mailSettingsKeys.notices(userId),
    staleTime: stale.mine,
    queryFn: async ({ signal }): Promise<boolean> => {
      const row = resultOf(
        await supabase
          .from("mail_settings")
          .select("notices")
          .eq("user_id", userId)
          .abortSignal(signal)
          .maybeSingle(),
      );
      return row?.notices ?? true;
    },
  });
}

/** Switches notices by mail on or off: shown at once, and back when the service refuses. */
export function useSetMailNotices(userId: string) {
  const queryClient = useQueryClient();
  const { queryKey } = mailNoticesQuery(userId);
  return useMutation({
    mutationKey: ["mail-settings", "set"],
    mutationFn: async (notices: boolean) => {
      resultOf(await supabase.from("mail_settings").upsert({ user_id: userId, notices }));
    },
    onMutate: async (notices) => {
      // A read that is under way would overwrite the new state with the old one.
      await queryClient.cancelQueries({ queryKey });
      const before = queryClient.getQueryData<boolean>(queryKey);
      queryClient.setQueryData(queryKey, notices);
      return { before };
    },
    onError: (error, _notices, context) => {
      queryClient.setQueryData(queryKey, context?.before);
      toast("Error", messageOf(error, "This could not be saved. Please try again."), "danger");
    },
    onSettled: () => queryClient.invalidateQueries({ queryKey }),
  });
}
