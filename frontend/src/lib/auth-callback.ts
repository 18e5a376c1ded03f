import { sessionStore } from "@/lib/browser-storage";

/**
 * What the auth service appended to the address of this page load, read before the auth client consumes and clears it.
 * Links in mails and identity providers redirect here: with tokens on success, with an error otherwise.
 */
export type AuthCallback =
  | { kind: "none" }
  | { kind: "confirmed" }
  | { kind: "recovery" }
  | { kind: "signed-in" }
  | { kind: "failed"; code: string; message: string };

export function parseAuthCallback(hash: string, query: string): AuthCallback {
  const fragment = new URLSearchParams(hash.replace(/^#/, ""));
  const search = new URLSearchParams(query);
  const code = search.get("error_code") ?? fragment.get("error_code");
  const error = search.get("error") ?? fragment.get("error");
  if (code !== null || error !== null) {
    // Providers may leave the description empty, especially when the user cancels on their page.
    const description = search.get("error_description") || fragment.get("error_description");
    const isCancelled = code === null && error === "access_denied";
    const message =
      description || (isCancelled ? "The sign-in was cancelled." : "The link is not valid.");
    return { kind: "failed", code: code ?? error ?? "", message };
  }
  if (!fragment.has("access_token")) return { kind: "none" };
  const type = fragment.get("type");
  if (type === "recovery") return { kind: "recovery" };
  if (type === "signup" || type === "invite" || type === "email_change")
    return { kind: "confirmed" };
  return { kind: "signed-in" };
}

/** Title of the notice about a failure: Auth's codes about links in mails begin with `otp`, all others are about a provider. */
export function failureTitle(code: string): string {
  return code.startsWith("otp") ? "This link did not work" : "Authentication Error";
}

/** The callback of this page load. `lib/supabase.ts` imports this module first, so the hash is still complete. */
export const authCallback = parseAuthCallback(window.location.hash, window.location.search);

const recoveryFlag = "lookbook:recovering-password";

/** Whether a recovery link opened this session and the new password is not set yet; survives a reload. */
export function isRecoveringPassword(): boolean {
  if (authCallback.kind === "recovery") sessionStore.set(recoveryFlag, "true");
  return sessionStore.get(recoveryFlag) === "true";
}

/** A code of a recovery mail is being checked: the session that it opens is for setting a new password. */
export function beginPasswordRecovery(): void {
  sessionStore.set(recoveryFlag, "true");
}

export function endPasswordRecovery(): void {
  sessionStore.remove(recoveryFlag);
  if (authCallback.kind === "recovery") Object.assign(authCallback, { kind: "none" });
}

/** Removes the error parameters from the address, so that a reload does not report the failure again. */
export function clearCallbackError(): void {
  if (authCallback.kind !== "failed") return;
  const url = new URL(window.location.href);
  for (const name of ["error", "error_code", "error_description"]) url.searchParams.delete(name);
  url.hash = "";
  window.history.replaceState(window.history.state, "", url);
}
