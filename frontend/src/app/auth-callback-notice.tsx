import { useEffect, useRef } from "react";
import { useLocation, useNavigate } from "react-router";
import { authCallback, failureTitle } from "@/lib/auth-callback";
import { useSession } from "@/lib/session";
import { toast } from "@/lib/toast";

/** Tells once how the mail link or provider sign-in that opened this page ended. */
export function AuthCallbackNotice() {
  const { user, isLoading } = useSession();
  const navigate = useNavigate();
  const { pathname, search, state } = useLocation();
  const isTold = useRef(false);

  useEffect(() => {
    if (isLoading || isTold.current || authCallback.kind === "none") return;
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
      toast("Welcome back!", "You have been successfully signed in.", "success");
    }
    isTold.current = true;
    // The auth client removed the tokens from the address bar; the router still holds the old hash until it navigates.
    navigate({ pathname, search }, { replace: true, state, preventScrollReset: true });
  }, [user, isLoading, navigate, pathname, search, state]);

  return null;
}
