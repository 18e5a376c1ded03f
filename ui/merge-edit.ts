/**
 * Joins an edit with what others have saved since it began. The base is the state in which the edit began: only what differs from
 * it was edited here, and only what differs from it in the saved state was edited elsewhere.
 */

/** A field that both have changed, to different values. */
export interface EditConflict {
  field: string;
  base: unknown;
  mine: unknown;
  theirs: unknown;
}

export interface MergedEdit<Values> {
  /** What is to be saved: the saved state with the own changes. */
  values: Values;
  /** The own changes alone. */
  changes: Partial<Values>;
  /** Fields that both have changed. In `values` they have the own value. */
  conflicts: EditConflict[];
}

/** Whether two values are equal as JSON, which has no undefined members, whatever the order of an object's keys. */
export function isSameValue(a: unknown, b: unknown): boolean {
  if (Object.is(a, b)) return true;
  if (typeof a !== "object" || typeof b !== "object" || a === null || b === null) return false;
  if (Array.isArray(a) !== Array.isArray(b)) return false;
  const [ofA, ofB] = [a as Record<string, unknown>, b as Record<string, unknown>];
  const keys = new Set([...Object.keys(ofA), ...Object.keys(ofB)]);
  return [...keys].every((key) => isSameValue(ofA[key], ofB[key]));
}

/** Merges by the keys of the objects. A key that is absent counts as a value of its own, so that a removal is a change, too. */
export function mergeEdit<Values extends object>(
  base: Values,
  mine: Values,
  theirs: Values,
): MergedEdit<Values> {
  const read = (values: Values, key: string): unknown => (values as Record<string, unknown>)[key];
  const isSame = (a: Values, b: Values, key: string) =>
    Object.hasOwn(a, key) === Object.hasOwn(b, key) && isSameValue(read(a, key), read(b, key));
  const values: Record<string, unknown> = Object.fromEntries(Object.entries(theirs));
  const changes: Record<string, unknown> = {};
  const conflicts: EditConflict[] = [];
  for (const key of new Set([...Object.keys(base), ...Object.keys(mine)])) {
    if (isSame(base, mine, key)) continue;
    changes[key] = read(mine, key);
    if (Object.hasOwn(mine, key)) values[key] = read(mine, key);
    else delete values[key];
    if (!isSame(base, theirs, key) && !isSame(mine, theirs, key)) {
      conflicts.push({
        field: key,
        base: read(base, key),
        mine: read(mine, key),
        theirs: read(theirs, key),
      });
    }
  }
  return { values: values as Values, changes: changes as Partial<Values>, conflicts };
}
