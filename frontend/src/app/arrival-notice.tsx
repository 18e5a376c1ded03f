import { useEffect, useRef } from "react";
import { useLocation, useNavigate } from "react-router";
import { arrival } from "@/lib/arrival";
import { useSession } from "@/lib/session";
import { toast } from "@/lib/toast";

/** Says once what a link from a mail has done, as soon as it is known. */
export function ArrivalNotice() {
  const { user, isLoading } = useSession();
  const navigate = useNavigate();
  const { pathname, search, state } = useLocation();
  const said = useRef(false);

  useEffect(() => {
    if (isLoading || said.current || arrival.kind === "plain") return;
    if (arrival.kind === "refused") {
      toast("This link did not work", arrival.message, "danger");
    } else if (user === null) {
      toast(
        "This link did not work",
        "It may have expired. Please sign in, or ask for a new one.",
        "danger",
      );
    } else if (arrival.kind === "confirmed") {
      toast("Email confirmed", "Welcome! You have been successfully signed in.", "success");
    } else if (arrival.kind === "signed-in") {
      toast("Welcome back!", "You have been successfully signed in.", "success");
    }
    said.current = true;
    // The tokens have been taken out of the address; the router shall forget them too.
    navigate({ pathname, search }, { replace: true, state, preventScrollReset: true });
  }, [user, isLoading, navigate, pathname, search, state]);

  return null;
}
