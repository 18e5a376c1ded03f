import { useMutation } from "@tanstack/react-query";
import { beginPasswordRecovery, endPasswordRecovery } from "@/lib/auth-callback";
import { loadAuth } from "@/lib/supabase";

/** What the mail with the code was about. */
export type MailCodeKind = "signup" | "recovery";

interface MailCode {
  email: string;
  kind: MailCodeKind;
  code: string;
}

/** Signs in with the code of a mail, for whom the link would open another device or browser. */
export function useMailCode() {
  return useMutation({
    mutationFn: async ({ email, kind, code }: MailCode) => {
      const auth = await loadAuth();
      // The page decides by it what it shows, and hears of the session before the answer is here.
      if (kind === "recovery") beginPasswordRecovery();
      const { error } = await auth.verifyOtp({ email, token: code, type: kind });
      if (error === null) return;
      if (kind === "recovery") endPasswordRecovery();
      throw error;
    },
  });
}

/** Sends the mail that confirms a new account once more. */
export function useResendConfirmation() {
  return useMutation({
    mutationFn: async ({ email, returnPath }: { email: string; returnPath: string }) => {
      const { error } = await (await loadAuth()).resend({
        type: "signup",
        email,
        options: { emailRedirectTo: new URL(returnPath, window.location.origin).href },
      });
      if (error !== null) throw error;
    },
  });
}
