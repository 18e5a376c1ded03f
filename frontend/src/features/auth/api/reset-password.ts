import { useMutation } from "@tanstack/react-query";
import { endPasswordRecovery } from "@/lib/auth-callback";
import { paths } from "@/lib/paths";
import { loadAuth } from "@/lib/supabase";
import type { ForgotPasswordValues, ResetPasswordValues } from "./schemas";

/** Requests a mail with a link to the reset form. */
export function useRequestPasswordReset() {
  return useMutation({
    mutationFn: async ({ email }: ForgotPasswordValues) => {
      const redirectTo = new URL(`${paths.auth}?reset=true`, window.location.origin).href;
      const { error } = await (await loadAuth()).resetPasswordForEmail(email, {
        redirectTo,
      });
      if (error !== null) throw error;
    },
  });
}

/** Sets the new password. Needs the session that the recovery link opened. */
export function useResetPassword() {
  return useMutation({
    mutationFn: async ({ password }: ResetPasswordValues) => {
      const { error } = await (await loadAuth()).updateUser({ password });
      if (error !== null) throw error;
    },
    onSuccess: endPasswordRecovery,
  });
}
