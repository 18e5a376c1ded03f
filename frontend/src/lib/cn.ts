import { clsx } from "clsx";

/**
 * Joins class names. Nothing is merged or reordered: components offer variants and sizes instead of
 * having callers override their utilities.
 */
export const cn = clsx;
