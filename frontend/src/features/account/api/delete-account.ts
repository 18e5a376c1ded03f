import { useMutation } from "@tanstack/react-query";
import { localStore } from "@/lib/browser-storage";
import { resultOf } from "@/lib/service-error";
import { loadAuth, supabase } from "@/lib/supabase";

/** Code of the refusal because the last sign-in is older than ten minutes. */
export const signInTooOld = "PT403";

/** Deletes the user's account with rows, files and sessions. The database compares the confirmation once more. */
export function useDeleteAccount() {
  return useMutation({
    mutationFn: async (confirmation: string) => {
      resultOf(await supabase.rpc("delete_my_account", { confirmation }));
    },
  });
}

/** Removes what this browser keeps of a deleted account: its session, an unsaved profile, drafts of outfits. */
export async function forgetAccount(userId: string): Promise<void> {
  // All that belongs to a person has the id in its key.
  const own = localStore
    .keys()
    // Interrupted uploads are kept by their library, whose keys have names of photos.
    .filter((key) => /^(tus::)?lookbook:/.test(key) && key.includes(userId));
  for (const key of own) localStore.remove(key);
  // The server has deleted the session; the client removes its copy whatever the response is.
  await (await loadAuth()).signOut({ scope: "local" });
}
