import type { Subject } from "@/api/subject";
import type { Filter, Sort } from "@/lib/rows/types";

/** What the URL contains about an open table: everything but the rows. */
export interface TableView {
  filters: Filter[];
  sort: Sort[];
  hidden: string[];
  /** Whether the last rows are shown instead of the first. */
  fromEnd: boolean;
  subject: Subject;
  /** The row whose panel is open, as its key in JSON, or "new". */
  row: string | null;
}

/**
 * Filters are written as REST writes them, `f=column.operator.value` with the column's own dots and commas encoded, so that an
 * address can be read and shared. Claims may hold anything and stay out of the address.
 */
export function readView(parameters: URLSearchParams): TableView {
  return {
    filters: parameters.getAll("f").flatMap((text) => readFilter(text) ?? []),
    sort: parameters.getAll("s").flatMap((text) => readSort(text) ?? []),
    hidden: parameters.getAll("hide"),
    fromEnd: parameters.get("from") === "end",
    subject: readSubject(parameters.get("as")),
    row: parameters.get("row"),
  };
}

function readFilter(text: string): Filter | null {
  const [column, operator, ...value] = text.split(".");
  if (column === undefined || column === "" || operator === undefined) return null;
  const [name, ...path] = column.split("->").map(decode);
  if (name === undefined) return null;
  return {
    column: name,
    operator,
    value: value.join("."),
    ...(path.length > 0 && { path }),
  };
}

function readSort(text: string): Sort | null {
  const [column, ...flags] = text.split(".");
  if (column === undefined || column === "") return null;
  const descending = flags.includes("desc");
  return {
    column: decode(column),
    descending,
    // PostgreSQL's own default: nulls are larger than every value.
    nulls_first: flags.includes("nullsfirst") || (descending && !flags.includes("nullslast")),
  };
}

function readSubject(text: string | null): Subject {
  if (text === "anon" || text === "service_role") return { kind: text };
  if (text?.startsWith("user:")) {
    const [id = "", aal] = text.slice(5).split(":");
    return { kind: "user", id, ...(aal === "aal2" && { aal }) };
  }
  return { kind: "admin" };
}

const encode = (name: string): string =>
  name.replace(/[%.>-]/g, (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`);

function decode(name: string): string {
  return name.replace(/%([0-9A-F]{2})/g, (_, code: string) =>
    String.fromCharCode(Number.parseInt(code, 16)),
  );
}

export function writeView(view: TableView): URLSearchParams {
  const parameters = new URLSearchParams();
  for (const { column, path = [], operator, value } of view.filters) {
    const name = [column, ...path].map(encode).join("->");
    parameters.append("f", `${name}.${operator}.${value}`);
  }
  for (const { column, descending, nulls_first } of view.sort) {
    const nulls = nulls_first === descending ? "" : nulls_first ? ".nullsfirst" : ".nullslast";
    parameters.append("s", `${encode(column)}${descending ? ".desc" : ""}${nulls}`);
  }
  for (const column of view.hidden) parameters.append("hide", column);
  if (view.fromEnd) parameters.set("from", "end");
  const { subject } = view;
  if (subject.kind === "user") {
    parameters.set("as", `user:${subject.id}${subject.aal === "aal2" ? ":aal2" : ""}`);
  } else if (subject.kind === "anon" || subject.kind === "service_role") {
    parameters.set("as", subject.kind);
  }
  if (view.row !== null) parameters.set("row", view.row);
  return parameters;
}
