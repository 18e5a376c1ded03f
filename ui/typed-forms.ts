/** The forms of a page in which something is typed, and the question before a step takes them away. */

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

/** A form in which something may be typed. */
export interface TypedText {
  isDirty: boolean;
  /** Whether the step takes the form away. */
  isLost: (step: Step) => boolean;
  /** Asks; `leave` goes on with the step, and asks the other forms that it takes away. */
  ask: (leave: () => void, step: Step) => void;
}

interface Guard {
  readonly current: TypedText;
}

/** The forms in which something is typed, in the order in which that began. A window is later than what is below it. */
const guards: Guard[] = [];

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

/** Has the form asked from now on. Returns a function that ends it. */
export function guardText(guard: Guard): () => void {
  guards.push(guard);
  return () => void guards.splice(guards.indexOf(guard), 1);
}
