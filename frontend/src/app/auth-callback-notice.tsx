import { useEffect, useRef } from "react";
import { useLocation, useNavigate } from "react-router";
import { authCallback, failureTitle } from "@/lib/auth-callback";
import { paths } from "@/lib/paths";
import { useSession } from "@/lib/session";
import { toast } from "@/lib/toast";

/** Tells once how the mail link or provider sign-in that opened this page ended. */
export function AuthCallbackNotice() {
  const { user, profile, isLoading, isProfileLoading } = useSession();
  const navigate = useNavigate();
  const { pathname, search, state } = useLocation();
  const isTold = useRef(false);

  useEffect(() => {
    if (isLoading || isProfileLoading || isTold.current || authCallback.kind === "none") return;
    // An identity provider knows no username: whoever is here for the first time has no page yet.
    const isNew = authCallback.kind === "signed-in" && profile?.username === null;
    // The sign-in page leads on to the page that was left for it, and only then it is known which one that is.
    if (isNew && pathname === paths.auth) return;
    if (authCallback.kind === "failed") {
      toast(failureTitle(authCallback.code), authCallback.message, "danger");
    } else if (user === null) {
      toast(
        "This link did not work",
        "It may have expired. Please sign in, or ask for a new one.",
        "danger",
      );
    } else if (authCallback.kind === "confirmed") {
      toast("Email confirmed", "Welcome! You have been successfully signed in.", "success");
    } else if (authCallback.kind === "signed-in") {
      const title = isNew ? "Welcome!" : "Welcome back!";
      toast(title, "You have been successfully signed in.", "success");
    }
    isTold.current = true;
    if (isNew && pathname === paths.explore) {
      navigate(paths.welcome, { replace: true });
      return;
    }
    // The auth client removed the tokens from the address bar; the router still holds the old hash until it navigates.
    navigate({ pathname, search }, { replace: true, state, preventScrollReset: true });
  }, [user, profile, isLoading, isProfileLoading, navigate, pathname, search, state]);

  return null;
}
