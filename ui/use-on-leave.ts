import { useEffect, useRef } from "react";

/**
 * Calls the newest function when the component is removed. React reports no blur of a focused field that it removes, so a field
 * that applies its text on blur would lose it. The function must do nothing when nothing was typed.
 */
export function useOnLeave(leave: () => void): void {
  const newest = useRef(leave);
  useEffect(() => {
    newest.current = leave;
  });
  useEffect(() => () => newest.current(), []);
}
