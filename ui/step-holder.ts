/** What a router needs to know of held steps before any form is there: pages without forms do not load what holds them. */
import { type RefObject, useSyncExternalStore } from "react";
import type { Address } from "./typed-forms";

/** What is needed of the history that React Router's own routers use. */
export interface StepHistory<To> {
  readonly location: Address;
  createURL(to: To): Address;
  go(steps: number): void;
}

export interface HeldSteps<To> {
  /** Whether a step back or forward, which the browser has done already, is taken back and asked about. */
  isHeld: (location: Address) => boolean;
  /** Does a step to an address at once, or after it was asked. */
  hold: (to: To, leave: () => void) => void;
  /** To be called with each step that is shown. */
  noteShown: () => void;
}

export interface StepHolderProps<To> {
  history: StepHistory<To>;
  /** Is given what holds the steps while the component is there. */
  steps: RefObject<HeldSteps<To> | null>;
}

type StepHolder = <To>(props: StepHolderProps<To>) => null;

let holder: StepHolder | null = null;
const listeners = new Set<() => void>();

/** Called by the code that holds steps when it is loaded, which the code of each form does. */
export function provideStepHolder(component: StepHolder): void {
  holder = component;
  for (const listener of listeners) listener();
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** The component that holds the steps of a router; null until the code of a form is loaded. */
export function useStepHolder(): StepHolder | null {
  return useSyncExternalStore(subscribe, () => holder);
}
