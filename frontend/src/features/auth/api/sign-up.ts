import { useMutation } from "@tanstack/react-query";
import { loadAuth } from "@/lib/supabase";
import type { SignUpValues } from "./schemas";

interface SignUp extends SignUpValues {
  /** Path that the link in the confirmation mail opens. */
  returnPath: string;
}

/** Creates an account. `signedIn` is false when the address must be confirmed by mail first. */
export function useSignUp() {
  return useMutation({
    mutationFn: async ({ email, password, username, fullName, returnPath }: SignUp) => {
      const { data, error } = await (await loadAuth()).signUp({
        email,
        password,
        options: {
          emailRedirectTo: new URL(returnPath, window.location.origin).href,
          data: { username, full_name: fullName },
        },
      });
      if (error !== null) throw error;
      return { signedIn: data.session !== null };
    },
  });
}
