/**
 * What is typed and not saved is not lost with a page: each step that would take its form away waits until somebody has been asked,
 * and the browser asks before the page is closed or loaded again. The router asks {@link askBeforeLeaving} at each step.
 */
import { useEffect, useRef } from "react";

/** An address of the application. */
export interface Address {
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
  /** Asks; `leave` goes on with the step, and asks the other forms that it takes away. */
  ask: (leave: () => void, step: Step) => void;
}

/** The forms in which something is typed, in the order in which that began. A window is later than what is below it. */
const guards: { current: TypedText }[] = [];

type Guard = (typeof guards)[number];

const noGuards: ReadonlySet<Guard> = new Set();

/** The form that is asked next, beside those that have answered. */
const findGuard = (step: Step, answered = noGuards) =>
  guards.findLast((guard) => !answered.has(guard) && guard.current.isLost(step));

/** Whether something is typed in a form of this page that is not saved. */
export const hasTypedText = (): boolean => guards.length > 0;

/** Whether the step would take typed text away. */
export const isTextLost = (step: Step): boolean => findGuard(step) !== undefined;

/** Has the forms ask that the step would take away, one after the other. Returns false, and does nothing, where there is none. */
export function askBeforeLeaving(
  step: Step,
  leave: () => void,
  answered: ReadonlySet<Guard> = noGuards,
): boolean {
  const guard = findGuard(step, answered);
  if (guard === undefined) return false;
  function goOn(answer: Guard): void {
    if (!askBeforeLeaving(step, leave, new Set([...answered, answer]))) leave();
  }
  guard.current.ask(() => goOn(guard), step);
  return true;
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
