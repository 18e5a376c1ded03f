/** SQL for enums. PostgreSQL can add and rename their values, but not remove one. */
import { quoteLiteral, quoteName } from "../quote";
import type { TableName } from "./columns";

export interface EnumDraft extends TableName {
  values: {
    label: string /** The label in the database; null for a new value. */;
    was: string | null;
  }[];
}

export function createEnum(draft: EnumDraft): string {
  const labels = draft.values.map(({ label }) => quoteLiteral(label));
  return `create type ${quoteName(draft.schema, draft.name)} as enum (${labels.join(", ")});`;
}

/** Renames first, because a new value is placed beside the present names of its neighbours. */
export function alterEnum(draft: EnumDraft): string {
  const type = quoteName(draft.schema, draft.name);
  const renames = draft.values
    .filter(({ label, was }) => was !== null && was !== label)
    .map(({ label, was }) => {
      return `alter type ${type} rename value ${quoteLiteral(was)} to ${quoteLiteral(label)};`;
    });
  const additions = draft.values.flatMap(({ label, was }, index) => {
    if (was !== null) return [];
    return [`alter type ${type} add value ${quoteLiteral(label)}${placeOf(draft, index)};`];
  });
  return [...renames, ...additions].join("\n");
}

/**
 * The position clause: after the value above, which exists or was added in an earlier line; a first new value goes before
 * the first existing one.
 */
function placeOf(draft: EnumDraft, index: number): string {
  const above = draft.values[index - 1];
  if (above !== undefined) return ` after ${quoteLiteral(above.label)}`;
  const below = draft.values.find(({ was }) => was !== null);
  return below === undefined ? "" : ` before ${quoteLiteral(below.label)}`;
}
