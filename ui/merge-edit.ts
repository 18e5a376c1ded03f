/**
 * Joins an edit with what others have saved since it began. The base is the state in which the edit began: only what differs from
 * it was edited here, and only what differs from it in the saved state was edited elsewhere.
 */

/** A field that both have changed, to different values. */
export interface EditConflict {
  /** Its name, after those of the objects that it is in: `address.city`. */
  field: string;
  base: unknown;
  mine: unknown;
  theirs: unknown;
}

/** A field that only the others have changed. */
export interface OtherEdit {
  field: string;
  base: unknown;
  theirs: unknown;
}

export interface MergedEdit<Values> {
  /** What is to be saved: the saved state with the own changes. */
  values: Values;
  /** The saved state with the own changes, but for those that are in conflict. */
  yielded: Values;
  /** The members of `values` that have own changes. */
  changes: Partial<Values>;
  /** Fields that both have changed. In `values` they have the own value. */
  conflicts: EditConflict[];
  /** Fields that only the others have changed. They have the others' value. */
  others: OtherEdit[];
}

/** Whether two values are equal as JSON, which has no undefined members, whatever the order of an object's keys. */
export function isSameValue(a: unknown, b: unknown): boolean {
  if (Object.is(a, b)) return true;
  if (typeof a !== "object" || typeof b !== "object" || a === null || b === null) return false;
  if (Array.isArray(a) !== Array.isArray(b)) return false;
  const [ofA, ofB] = [a as Fields, b as Fields];
  const keys = new Set([...Object.keys(ofA), ...Object.keys(ofB)]);
  return [...keys].every((key) => isSameValue(ofA[key], ofB[key]));
}

type Fields = Record<string, unknown>;

const isFields = (value: unknown): value is Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/**
 * Merges by the keys of the objects, and objects within them by theirs. A key that is absent counts as a value of its own, so that
 * a removal is a change, too.
 */
export function mergeEdit<Values extends object>(
  base: Values,
  mine: Values,
  theirs: Values,
): MergedEdit<Values> {
  return mergeFields(base as Fields, mine as Fields, theirs as Fields, "") as MergedEdit<Values>;
}

function mergeFields(base: Fields, mine: Fields, theirs: Fields, path: string): MergedEdit<Fields> {
  const isSame = (a: Fields, b: Fields, key: string) =>
    Object.hasOwn(a, key) === Object.hasOwn(b, key) && isSameValue(a[key], b[key]);
  const merged: MergedEdit<Fields> = {
    values: { ...theirs },
    yielded: { ...theirs },
    changes: {},
    conflicts: [],
    others: [],
  };
  function takeMine(into: Fields, key: string): void {
    if (Object.hasOwn(mine, key)) into[key] = mine[key];
    else delete into[key];
  }
  for (const key of new Set([base, mine, theirs].flatMap((values) => Object.keys(values)))) {
    const field = path + key;
    const [before, own, other] = [base[key], mine[key], theirs[key]];
    const isTheirs = !isSame(base, theirs, key);
    if (isSame(base, mine, key)) {
      if (isTheirs) merged.others.push({ field, base: before, theirs: other });
      continue;
    }
    merged.changes[key] = own;
    if (isTheirs && isFields(before) && isFields(own) && isFields(other)) {
      const inner = mergeFields(before, own, other, `${field}.`);
      merged.values[key] = inner.values;
      merged.yielded[key] = inner.yielded;
      merged.changes[key] = inner.values;
      merged.conflicts.push(...inner.conflicts);
      merged.others.push(...inner.others);
      continue;
    }
    takeMine(merged.values, key);
    if (isTheirs && !isSame(mine, theirs, key)) {
      merged.conflicts.push({ field, base: before, mine: own, theirs: other });
    } else takeMine(merged.yielded, key);
  }
  return merged;
}
