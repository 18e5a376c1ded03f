/**
 * How this page load came about, read from the URL hash before the auth client consumes and clears it.
 * Links from mails land here: with tokens when they were good, with an error when they were not.
 */
export type Arrival =
  | { kind: "plain" }
  | { kind: "confirmed" }
  | { kind: "recovery" }
  | { kind: "signed-in" }
  | { kind: "refused"; code: string; message: string };

export function parseArrival(hash: string, query: string): Arrival {
  const fragment = new URLSearchParams(hash.replace(/^#/, ""));
  const search = new URLSearchParams(query);
  const code = search.get("error_code") ?? fragment.get("error_code");
  const error = search.get("error") ?? fragment.get("error");
  if (code !== null || error !== null) {
    const message =
      search.get("error_description") ??
      fragment.get("error_description") ??
      "The link is not valid.";
    return { kind: "refused", code: code ?? error ?? "", message };
  }
  if (!fragment.has("access_token")) return { kind: "plain" };
  const type = fragment.get("type");
  if (type === "recovery") return { kind: "recovery" };
  if (type === "signup" || type === "invite" || type === "email_change")
    return { kind: "confirmed" };
  return { kind: "signed-in" };
}

/** Evaluated when the module loads, which lib/supabase.ts sees to before it makes the client. */
export const arrival = parseArrival(window.location.hash, window.location.search);

const recoveryFlag = "lookbook:recovering-password";

/** Whether the visitor came by a recovery link and has not set the new password yet; survives a reload. */
export function isRecoveringPassword(): boolean {
  if (arrival.kind === "recovery") sessionStorage.setItem(recoveryFlag, "true");
  return sessionStorage.getItem(recoveryFlag) === "true";
}

export function endPasswordRecovery(): void {
  sessionStorage.removeItem(recoveryFlag);
  if (arrival.kind === "recovery") Object.assign(arrival, { kind: "plain" });
}

/** Takes a refusal out of the address: reloading the page should not repeat it. */
export function clearRefusal(): void {
  if (arrival.kind !== "refused") return;
  const url = new URL(window.location.href);
  for (const name of ["error", "error_code", "error_description"]) url.searchParams.delete(name);
  url.hash = "";
  window.history.replaceState(window.history.state, "", url);
}
