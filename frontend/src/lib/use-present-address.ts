import { useCallback, useContext } from "react";
import {
  UNSAFE_DataRouterContext as DataRouterContext,
  UNSAFE_NavigationContext as NavigationContext,
} from "react-router";

interface Address {
  pathname: string;
  params: URLSearchParams;
}

/**
 * Returns a function that reads the address at the moment at which it is called. A page is drawn in a transition and may lag behind
 * the address: a change that begins with what is drawn would undo one made shortly before.
 */
export function usePresentAddress(): () => Address {
  const { navigator } = useContext(NavigationContext);
  const router = useContext(DataRouterContext)?.router;
  return useCallback(() => {
    const { location = window.location } = navigator as { location?: Location };
    const { pathname, search } = router?.state.location ?? location;
    return { pathname, params: new URLSearchParams(search) };
  }, [navigator, router]);
}
