import { useMutation } from "@tanstack/react-query";
import { hasCode } from "@/lib/service-error";
import { loadAuth } from "@/lib/supabase";
import { attemptLimit } from "./attempt-limit";
import type { SignInValues } from "./schemas";

/** Thrown instead of a request after too many wrong passwords for one address. */
export class TooManyAttempts extends Error {}

/** Signs in with e-mail and password. The schema has trimmed the address and made it lower case. */
export function useSignIn() {
  return useMutation({
    mutationFn: async ({ email, password }: SignInValues) => {
      if (attemptLimit.isReached(email)) throw new TooManyAttempts();
      const { error } = await (await loadAuth()).signInWithPassword({ email, password });
      if (error === null) {
        attemptLimit.forget(email);
        return;
      }
      // Only wrong passwords count as attempts, not a server that is down.
      if (hasCode(error, "invalid_credentials")) attemptLimit.count(email);
      throw error;
    },
  });
}

interface ErrorText {
  title: string;
  description: string;
}

/** Text for a failed sign-in, chosen by the error's code, because messages may change. */
export function describeSignInError(error: unknown): ErrorText {
  if (error instanceof TooManyAttempts) {
    return {
      title: "Too many attempts",
      description: "Please wait 15 minutes before trying again.",
    };
  }
  return { title: "Login failed", description: describeCode(codeOf(error)) };
}

function describeCode(code: string | undefined): string {
  switch (code) {
    case "invalid_credentials":
      return "Invalid email or password. Please try again.";
    case "email_not_confirmed":
      return "Please confirm your email before logging in.";
    default:
      return "An error occurred while signing in.";
  }
}

function codeOf(error: unknown): string | undefined {
  if (typeof error !== "object" || error === null || !("code" in error)) return undefined;
  return typeof error.code === "string" ? error.code : undefined;
}
