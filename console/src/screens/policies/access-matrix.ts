/** The access matrix: which role may do what with which table, filtered and put into words. */

export type Verb = "select" | "insert" | "update" | "delete";
export const verbs: readonly Verb[] = ["select", "insert", "update", "delete"];

/** `none`: refused; `policy`: only rows that a policy lets through; `all`: every row. */
export type Access = "none" | "policy" | "all";
export type Cell = Record<Verb, Access>;

export interface AccessTable {
  oid: string;
  schema: string;
  name: string;
  cells: Record<string, Cell>;
}

export interface AccessReport {
  roles: string[];
  tables: AccessTable[];
}

export interface MatrixFilter {
  /** A text to find in `schema.table`. */
  search: string;
  /** A schema, or all of them when empty. */
  schema: string;
  /** Only tables that some outside role reads or writes without a policy. */
  onlyOpen: boolean;
}

/** Roles that a request from outside can have without a secret. */
const outsideRoles = ["anon", "authenticated"];

/** Tables that pass the filter, those of `public` first, then by name. */
export function filterTables(report: AccessReport, filter: MatrixFilter): AccessTable[] {
  const search = filter.search.trim().toLowerCase();
  return report.tables
    .filter(({ schema }) => filter.schema === "" || schema === filter.schema)
    .filter(({ schema, name }) => `${schema}.${name}`.toLowerCase().includes(search))
    .filter((table) => !filter.onlyOpen || isOpen(table))
    .sort(
      (a, b) =>
        Number(b.schema === "public") - Number(a.schema === "public") ||
        a.schema.localeCompare(b.schema) ||
        a.name.localeCompare(b.name),
    );
}

/** Whether every user can write, or `anon` read, every row of the table. */
export function isOpen({ cells }: AccessTable): boolean {
  return outsideRoles.some((role) => {
    const cell = cells[role];
    if (cell === undefined) return false;
    return verbs.some((verb) => cell[verb] === "all" && (verb !== "select" || role === "anon"));
  });
}

/** Roles in the order of their power to do harm: those of requests first, then the others. */
export function orderRoles(roles: readonly string[]): string[] {
  const first = ["anon", "authenticated", "service_role"];
  return [
    ...first.filter((role) => roles.includes(role)),
    ...roles.filter((role) => !first.includes(role)),
  ];
}

const accessWords: Record<Access, string> = {
  none: "refused",
  policy: "rows that a policy allows",
  all: "all rows",
};

/** A cell as a sentence, for tooltips and screen readers. */
export function describeCell(role: string, verb: Verb, access: Access): string {
  return `${role} ${verb}: ${accessWords[access]}`;
}
