import { askBeforeLeaving, isTextLost, type Step } from "@ui/use-keep-typed";
import { type ReactNode, useEffect, useLayoutEffect, useMemo, useRef, useState } from "react";
import {
  // The history that React Router's own routers use is exported under this name only.
  UNSAFE_createBrowserHistory as createBrowserHistory,
  type Navigator,
  Router,
  type To,
} from "react-router";

/** The place of the browser's present entry in its history, as React Router notes it. */
function readPlace(): number {
  const { idx }: { idx?: unknown } = window.history.state ?? {};
  return typeof idx === "number" ? idx : 0;
}

/** A step that would take typed text away. */
interface HeldStep {
  step: Step;
  leave: () => void;
}

/**
 * React Router on the browser's history, with a question before typed text is lost. Its own blocker needs the data router, whose
 * code the console does not load.
 */
export function GuardedRouter({ children }: { children: ReactNode }) {
  const [history] = useState(() => createBrowserHistory({ v5Compat: true }));
  const [entry, setEntry] = useState(() => ({
    action: history.action,
    location: history.location,
  }));
  const [held, setHeld] = useState<HeldStep | null>(null);
  /** Place and address of the entry that is shown; during a step that is held, the history is at another one. */
  const shown = useRef({ place: readPlace(), location: history.location });
  const isPassed = useRef(false);
  const returning = useRef<HeldStep | null>(null);

  useLayoutEffect(
    () =>
      history.listen(({ action, location }) => {
        const show = () => {
          shown.current = { place: readPlace(), location };
          setEntry({ action, location });
        };
        const steps = readPlace() - shown.current.place;
        if (action !== "POP" || isPassed.current) {
          isPassed.current = false;
          show();
          return;
        }
        if (steps === 0 && returning.current !== null) {
          setHeld(returning.current);
          returning.current = null;
          return;
        }
        const step = { from: shown.current.location, to: location, isHistory: true };
        if (steps === 0 || !isTextLost(step)) {
          show();
          return;
        }
        const leave = () => {
          isPassed.current = true;
          history.go(steps);
        };
        returning.current = { step, leave };
        history.go(-steps);
      }),
    [history],
  );

  // After the drawing: who saves and closes a form often goes on to another address in the same moment.
  useEffect(() => {
    if (held === null) return;
    setHeld(null);
    if (!askBeforeLeaving(held.step, held.leave)) held.leave();
  }, [held]);

  const navigator = useMemo(() => {
    function hold(to: To, leave: () => void): void {
      const { pathname, search } = history.createURL(to);
      const step = { from: history.location, to: { pathname, search }, isHistory: false };
      if (isTextLost(step)) setHeld({ step, leave });
      else leave();
    }
    return {
      createHref: history.createHref,
      encodeLocation: history.encodeLocation,
      go: history.go,
      push: (to, state) => hold(to, () => history.push(to, state)),
      replace: (to, state) => hold(to, () => history.replace(to, state)),
      /** The newest address, also before it is drawn. */
      get location() {
        return history.location;
      },
    } satisfies Navigator & { location: unknown };
  }, [history]);

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
