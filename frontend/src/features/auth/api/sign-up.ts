import { useMutation } from "@tanstack/react-query";
import { supabase } from "@/lib/supabase";
import type { SignUpValues } from "./schemas";

interface SignUp extends SignUpValues {
  /** Where the link in the confirmation mail leads. */
  returnPath: string;
}

/** Makes an account. `signedIn` is true only where the server asks for no confirmation by mail. */
export function useSignUp() {
  return useMutation({
    mutationFn: async ({ email, password, username, fullName, returnPath }: SignUp) => {
      const { data, error } = await supabase.auth.signUp({
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
