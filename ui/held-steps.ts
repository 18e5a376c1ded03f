/** Steps through the history of React Router that would take typed text away: each is held until its form has been asked. */
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "react";
import {
  type HeldSteps,
  provideStepHolder,
  type StepHistory,
  type StepHolderProps,
} from "./step-holder";
import { type Address, askBeforeLeaving, isTextLost, type Step } from "./typed-forms";

interface HeldStep {
  step: Step;
  leave: () => void;
}

/** Milliseconds after which no further step of a series is expected, such as of two quick presses of Back. */
const seriesMs = 100;

/** The place of the browser's present entry in its history, as React Router notes it. */
function readPlace(): number {
  const { idx }: { idx?: unknown } = window.history.state ?? {};
  return typeof idx === "number" ? idx : 0;
}

/** For a router on this history. React Router's own blocker needs the data router, whose code neither front end loads. */
export function useHeldSteps<To>(history: StepHistory<To>): HeldSteps<To> {
  const [held, setHeld] = useState<HeldStep | null>(null);
  /** Place and address of the entry that is shown; during a step that is held, the history is at another one. */
  const shown = useRef({ place: readPlace(), location: history.location });
  const isPassed = useRef(false);
  /** The step that is being taken back. */
  const returning = useRef<HeldStep | null>(null);
  const timer = useRef(0);

  // After the drawing: who saves and closes a form often goes on to another address in the same moment.
  useEffect(() => {
    if (held === null) return;
    setHeld(null);
    if (!askBeforeLeaving(held.step, held.leave)) held.leave();
  }, [held]);

  return useMemo(() => {
    function isHeld(location: Address): boolean {
      const steps = readPlace() - shown.current.place;
      if (isPassed.current) return false;
      if (returning.current !== null) {
        window.clearTimeout(timer.current);
        if (steps === 0) {
          setHeld(returning.current);
          returning.current = null;
        } else {
          // Another step came in between. Its way back is measured when all have been done, or each would be taken back twice.
          timer.current = window.setTimeout(() => {
            const way = shown.current.place - readPlace();
            // By 0 the browser would load the page again.
            if (way !== 0) history.go(way);
          }, seriesMs);
        }
        return true;
      }
      const step = { from: shown.current.location, to: location, isHistory: true };
      if (steps === 0 || !isTextLost(step)) return false;
      const leave = () => {
        isPassed.current = true;
        history.go(steps);
      };
      returning.current = { step, leave };
      history.go(-steps);
      return true;
    }
    function hold(to: To, leave: () => void): void {
      const { pathname, search } = history.createURL(to);
      const step = { from: history.location, to: { pathname, search }, isHistory: false };
      if (isTextLost(step)) setHeld({ step, leave });
      else leave();
    }
    function noteShown(): void {
      isPassed.current = false;
      shown.current = { place: readPlace(), location: history.location };
    }
    return { isHeld, hold, noteShown };
  }, [history]);
}

/** Holds the steps of a router that was drawn before the code of a form was loaded. */
function StepHolder<To>({ history, steps }: StepHolderProps<To>): null {
  const held = useHeldSteps(history);
  useLayoutEffect(() => {
    steps.current = held;
    return () => {
      steps.current = null;
    };
  }, [held, steps]);
  return null;
}

provideStepHolder(StepHolder);
