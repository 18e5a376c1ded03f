import { useCallback } from "react";
import { useLocation, useNavigate } from "react-router";
import { keepWish, type Wish } from "@/lib/kept-wish";
import { paths, type ReturnState } from "@/lib/paths";
import { toast } from "@/lib/toast";

/**
 * Returns a function that sends a visitor to the sign-in page, shows the reason, and remembers the page to return to and what is to
 * be done then, if that is one tap.
 */
export function useSignInGate(): (reason: string, wish?: Wish) => void {
  const navigate = useNavigate();
  const location = useLocation();
  return useCallback(
    (reason, wish) => {
      if (wish !== undefined) keepWish(wish);
      toast("Authentication required", reason, "danger");
      const state: ReturnState = { from: `${location.pathname}${location.search}` };
      navigate(paths.auth, { state });
    },
    [navigate, location.pathname, location.search],
  );
}
