import { useMutation } from "@tanstack/react-query";
import { endPasswordRecovery } from "@/lib/auth-callback";
import { forgetOwnSignOut, noteOwnSignOut } from "@/lib/own-sign-out";
import { messageOf } from "@/lib/service-error";
import { loadAuth } from "@/lib/supabase";
import { toast } from "@/lib/toast";

/** Ends the session in the browser and at the server, of this device or of all. SessionProvider then clears the user's cached data. */
export function useSignOut() {
  return useMutation({
    mutationFn: async (scope: "local" | "global") => {
      noteOwnSignOut();
      const { error } = await (await loadAuth()).signOut({ scope });
      if (error !== null) throw error;
    },
    onSuccess: endPasswordRecovery,
    onError: (error) => {
      // The person stays; what ends this session later is not this.
      forgetOwnSignOut();
      toast("Error signing out", messageOf(error, "Please try again."), "danger");
    },
  });
}
