import { useCallback, useContext } from "react";
import {
  type NavigateOptions,
  UNSAFE_NavigationContext as NavigationContext,
  useLocation,
  useNavigate,
  useSearchParams as useRenderedParams,
} from "react-router";

/** Null leaves the address as it is. */
type Change = (present: URLSearchParams) => URLSearchParams | null;

/**
 * The search parameters, and a function that changes them. Unlike that of the router, the change begins with the address of this
 * moment and not with that of the last drawing, so that two changes shortly after each other are both made.
 */
export function useSearchParams(): [
  URLSearchParams,
  (change: Change, options?: NavigateOptions) => void,
] {
  const [params] = useRenderedParams();
  const { navigator } = useContext(NavigationContext);
  const navigate = useNavigate();
  const { pathname } = useLocation();
  const update = useCallback(
    (change: Change, options?: NavigateOptions) => {
      // The navigator is the router's history, whose address is always the newest.
      const { location = window.location } = navigator as { location?: Location };
      // A field that is left with its page must not lead back to that page.
      if (location.pathname !== pathname) return;
      const next = change(new URLSearchParams(location.search));
      if (next !== null) void navigate(`?${next}`, options);
    },
    [navigator, navigate, pathname],
  );
  return [params, update];
}
