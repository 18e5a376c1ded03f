/** The state of the simulator's form, and its conversion to a request. */
import { parseRequestLine, type SimulatedVerb, type SimulationRequest } from "./simulation";

export type RequestKind = "verb" | "sql" | "rest" | "log";
export const requestKinds: readonly { kind: RequestKind; name: string }[] = [
  { kind: "verb", name: "Rows" },
  { kind: "sql", name: "SQL" },
  { kind: "rest", name: "REST" },
  { kind: "log", name: "Log line" },
];

export const simulatedVerbs: readonly SimulatedVerb[] = [
  "select",
  "insert",
  "update",
  "upsert",
  "delete",
];

export interface RequestDraft {
  kind: RequestKind;
  verb: SimulatedVerb;
  filters: { column: string; operator: string; value: string }[];
  values: { column: string; value: string | null }[];
  returning: boolean;
  sql: string;
  method: string;
  path: string;
  body: string;
  line: string;
}

export const emptyRequest: RequestDraft = {
  kind: "verb",
  verb: "select",
  filters: [],
  values: [],
  returning: true,
  sql: "",
  method: "GET",
  path: "/rest/v1/",
  body: "",
  line: "",
};

export const takesFilters = (verb: SimulatedVerb) =>
  verb === "select" || verb === "update" || verb === "delete";
export const takesValues = (verb: SimulatedVerb) =>
  verb === "insert" || verb === "update" || verb === "upsert";

/** Returns the request, or a sentence that says what is missing. */
export function toRequest(draft: RequestDraft, table: string | null): SimulationRequest | string {
  switch (draft.kind) {
    case "verb":
      return toVerbRequest(draft, table);
    case "sql":
      return draft.sql.trim() === "" ? "Write a statement." : { kind: "sql", text: draft.sql };
    case "rest":
      return toRestRequest(draft);
    case "log": {
      const found = parseRequestLine(draft.line);
      if (found === null) return "No request to /rest/v1 stands in this line.";
      return { kind: "rest", ...found, headers: {}, body: "" };
    }
  }
}

function toVerbRequest(draft: RequestDraft, table: string | null): SimulationRequest | string {
  if (table === null) return "Choose a table.";
  const { verb } = draft;
  const values = draft.values.filter(({ column }) => column !== "");
  if (verb === "update" && values.length === 0) return "Say which column is changed.";
  return {
    kind: "verb",
    verb,
    table,
    ...(takesFilters(verb) && { filters: draft.filters.filter(({ column }) => column !== "") }),
    ...(takesValues(verb) && {
      values: Object.fromEntries(values.map(({ column, value }) => [column, value])),
    }),
    ...(verb !== "select" && { returning: draft.returning }),
  };
}

function toRestRequest({ method, path, body }: RequestDraft): SimulationRequest | string {
  const trimmed = path.trim();
  if (!/^(\/rest\/v1)?\/[^/\s]/.test(trimmed))
    return "Write a path such as /rest/v1/items?id=eq.1.";
  const headers: Record<string, string> =
    body.trim() === "" ? {} : { "content-type": "application/json" };
  return { kind: "rest", method, path: trimmed, headers, body };
}
