/**
 * What is typed and not saved is not lost with a page: each step that would take its form away waits until somebody has been asked,
 * and the browser asks before the page is closed or loaded again. The router asks {@link askBeforeLeaving} at each step.
 */
import { useEffect, useRef } from "react";

interface Address {
  pathname: string;
  search: string;
}

/** A step from one address of the application to another. */
export interface Step {
  from: Address;
  to: Address;
  /** Whether it is one of the browser's history: Back, Forward, a gesture. */
  isHistory: boolean;
}

interface TypedText {
  isDirty: boolean;
  /** Whether the step takes the form away. */
  isLost: (step: Step) => boolean;
  /** Asks; `leave` does the step, whatever else is typed. */
  ask: (leave: () => void, step: Step) => void;
}

/** The forms in which something is typed, in the order in which that began. A window is later than what is below it. */
const guards: { current: TypedText }[] = [];

const findGuard = (step: Step) => guards.findLast(({ current }) => current.isLost(step));

/** Whether the step would take typed text away. */
export const isTextLost = (step: Step): boolean => findGuard(step) !== undefined;

/** Has the form ask that the step would take away. Returns false, and does nothing, where there is none. */
export function askBeforeLeaving(step: Step, leave: () => void): boolean {
  const guard = findGuard(step);
  guard?.current.ask(leave, step);
  return guard !== undefined;
}

/** The usual meaning of leaving. */
export const isOtherPage = ({ from, to }: Step): boolean => from.pathname !== to.pathname;

/** Guards what is typed in a form, as long as there is something. */
export function useKeepTyped(typed: TypedText): void {
  const newest = useRef(typed);
  useEffect(() => {
    newest.current = typed;
  });
  const { isDirty } = typed;
  useEffect(() => {
    if (!isDirty) return undefined;
    const refuse = (event: BeforeUnloadEvent) => event.preventDefault();
    guards.push(newest);
    window.addEventListener("beforeunload", refuse);
    return () => {
      guards.splice(guards.indexOf(newest), 1);
      window.removeEventListener("beforeunload", refuse);
    };
  }, [isDirty]);
}
