import { useCallback, useEffect, useRef } from "react";

/**
 * Says whether the component is still shown. What a form does once the server has answered, such as closing, is about another form
 * when it was closed meanwhile and the next one is open.
 */
export function useIsShown(): () => boolean {
  const isShown = useRef(false);
  useEffect(() => {
    isShown.current = true;
    return () => {
      isShown.current = false;
    };
  }, []);
  return useCallback(() => isShown.current, []);
}
