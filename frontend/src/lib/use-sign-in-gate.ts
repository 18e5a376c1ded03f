import { useCallback } from "react";
import { useLocation, useNavigate } from "react-router";
import { paths, type ReturnState } from "@/lib/paths";
import { toast } from "@/lib/toast";

/** Returns a function that sends a visitor to the sign-in page, shows the reason, and remembers the page to return to. */
export function useSignInGate(): (reason: string) => void {
  const navigate = useNavigate();
  const location = useLocation();
  return useCallback(
    (reason) => {
      toast("Authentication required", reason, "danger");
      const state: ReturnState = { from: `${location.pathname}${location.search}` };
      navigate(paths.auth, { state });
    },
    [navigate, location.pathname, location.search],
  );
}
