import { useMutation } from "@tanstack/react-query";
import { hasCode } from "@/lib/service-error";
import { supabase } from "@/lib/supabase";
import { attemptLimit } from "./attempt-limit";
import type { SignInValues } from "./schemas";

/** Too many wrong passwords for one address, counted in this browser. */
export class TooManyAttempts extends Error {}

/** Signs in with e-mail and password. Addresses go out trimmed and in lower case (the schema sees to it). */
export function useSignIn() {
  return useMutation({
    mutationFn: async ({ email, password }: SignInValues) => {
      if (attemptLimit.isReached(email)) throw new TooManyAttempts();
      const { error } = await supabase.auth.signInWithPassword({ email, password });
      if (error === null) {
        attemptLimit.forget(email);
        return;
      }
      // Only guesses count: a server that is down is nobody's attempt.
      if (hasCode(error, "invalid_credentials")) attemptLimit.count(email);
      throw error;
    },
  });
}

interface Refusal {
  title: string;
  description: string;
}

/** What a refused sign-in says: by its code, never by its text. */
export function signInRefusal(error: unknown): Refusal {
  if (error instanceof TooManyAttempts) {
    return {
      title: "Too many attempts",
      description: "Please wait 15 minutes before trying again.",
    };
  }
  return { title: "Login failed", description: describe(codeOf(error)) };
}

function describe(code: string | undefined): string {
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
