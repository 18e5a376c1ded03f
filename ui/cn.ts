import { clsx } from "clsx";

/** Joins class names. Conflicting utilities are not resolved: components offer variants instead of taking overrides. */
export const cn = clsx;
