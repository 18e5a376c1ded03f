import { useMutation } from "@tanstack/react-query";
import { endPasswordRecovery } from "@/lib/arrival";
import { messageOf } from "@/lib/service-error";
import { supabase } from "@/lib/supabase";
import { toast } from "@/lib/toast";

/** Ends the session, here and at the server. What was cached for the user goes with it. */
export function useSignOut() {
  return useMutation({
    mutationFn: async () => {
      const { error } = await supabase.auth.signOut();
      if (error !== null) throw error;
    },
    onSuccess: endPasswordRecovery,
    onError: (error) => toast("Error signing out", messageOf(error, "Please try again."), "danger"),
  });
}
