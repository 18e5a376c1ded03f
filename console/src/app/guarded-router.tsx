import { useHeldSteps } from "@ui/held-steps";
import { type ReactNode, useLayoutEffect, useMemo, useState } from "react";
import {
  // The history that React Router's own routers use is exported under this name only.
  UNSAFE_createBrowserHistory as createBrowserHistory,
  type Navigator,
  Router,
} from "react-router";

/** React Router on the browser's history, with a question before typed text is lost. */
export function GuardedRouter({ children }: { children: ReactNode }) {
  const [history] = useState(() => createBrowserHistory({ v5Compat: true }));
  const [entry, setEntry] = useState(() => ({
    action: history.action,
    location: history.location,
  }));
  const steps = useHeldSteps(history);

  useLayoutEffect(
    () =>
      history.listen(({ action, location }) => {
        if (action === "POP" && steps.isHeld(location)) return;
        steps.noteShown();
        setEntry({ action, location });
      }),
    [history, steps],
  );

  const navigator = useMemo(
    () =>
      ({
        createHref: history.createHref,
        encodeLocation: history.encodeLocation,
        go: history.go,
        push: (to, state) => steps.hold(to, () => history.push(to, state)),
        replace: (to, state) => steps.hold(to, () => history.replace(to, state)),
        /** The newest address, also before it is drawn. */
        get location() {
          return history.location;
        },
      }) satisfies Navigator & { location: unknown },
    [history, steps],
  );

  return (
    // A transition would draw a screen in pieces of 5 ms between other tasks, which takes longer.
    <Router
      location={entry.location}
      navigationType={entry.action}
      navigator={navigator}
      useTransitions={false}
    >
      {children}
    </Router>
  );
}
