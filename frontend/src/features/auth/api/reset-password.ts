import { useMutation } from "@tanstack/react-query";
import { endPasswordRecovery } from "@/lib/arrival";
import { paths } from "@/lib/paths";
import { supabase } from "@/lib/supabase";
import type { ForgotPasswordValues, ResetPasswordValues } from "./schemas";

/** Has a mail sent with a link that leads to the reset form. */
export function useRequestPasswordReset() {
  return useMutation({
    mutationFn: async ({ email }: ForgotPasswordValues) => {
      const redirectTo = new URL(`${paths.auth}?reset=true`, window.location.origin).href;
      const { error } = await supabase.auth.resetPasswordForEmail(email, { redirectTo });
      if (error !== null) throw error;
    },
  });
}

/** Sets the new password, with the session that the recovery link opened. */
export function useResetPassword() {
  return useMutation({
    mutationFn: async ({ password }: ResetPasswordValues) => {
      const { error } = await supabase.auth.updateUser({ password });
      if (error !== null) throw error;
    },
    onSuccess: endPasswordRecovery,
  });
}
