import { useCallback, useState } from "react";

/**
 * The handler `onCloseAutoFocus` of a dialog without a trigger: it returns the focus to the element that had it when the
 * dialog was opened, or to the page when that element was removed, for example with a deleted row.
 */
export function useReturnFocus(): (event: Event) => void {
  const [opener] = useState(() => document.activeElement);
  return useCallback(
    (event) => {
      event.preventDefault();
      const target = opener?.isConnected ? opener : document.getElementById("main");
      if (target instanceof HTMLElement) target.focus();
    },
    [opener],
  );
}
