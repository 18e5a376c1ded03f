/**
 * Names the statements that change or destroy more than their writer may have meant (CONSOLE-094). It reads words
 * only, so a function that deletes passes unseen: the question is a courtesy and protects nothing.
 */
import { quoteIdentifier } from "./quote";
import { type Statement, splitStatements } from "./statements";
import { isWord, nameOf, type Token } from "./tokens";

export type DangerKind =
  | "delete_all"
  | "update_all"
  | "drop"
  | "truncate"
  | "drop_column"
  | "disable_rls"
  | "merge_delete";

/** An object as `POST /api/sql/count` takes it; of a `table` the rows are counted, too. */
export interface CountedObject {
  kind: "table" | "relation" | "type" | "function" | "schema";
  /** The name in SQL, quoted where PostgreSQL needs it. */
  name: string;
}

export interface Danger {
  kind: DangerKind;
  /** The affected object as written in the SQL: `public.items`, `column note of items`. */
  target: string;
  /** The objects that can be counted before it runs; empty where nothing can be. */
  objects: CountedObject[];
  statement: Statement;
}

/** Finds the statements that must be confirmed before they run, in order. */
export function findDangers(sql: string): Danger[] {
  return splitStatements(sql).flatMap((statement) => inspectStatement(statement));
}

function inspectStatement(statement: Statement): Danger[] {
  const { tokens } = statement;
  const verb = findMainVerb(tokens);
  if (verb === null) return [];
  return [...inspectWithQueries(statement, verb), ...inspectMain(statement, verb)];
}

/** The writes in the WITH queries before the main verb, which run although their rows are not asked for. */
function inspectWithQueries(statement: Statement, verb: number): Danger[] {
  const { tokens } = statement;
  const dangers: Danger[] = [];
  for (let at = 1; at < verb; at += 1) {
    const isQuery = tokens[at]?.text === "(" && isWord(tokens[at - 1], "as", "materialized");
    if (!isQuery) continue;
    const inner = tokens.slice(at + 1, endOfParentheses(tokens, at));
    if (isWord(inner[0], "delete", "update")) dangers.push(...inspectWrite(statement, inner));
    if (isWord(inner[0], "merge")) dangers.push(...inspectMerge(statement, inner));
  }
  return dangers;
}

/** The index of the parenthesis that closes the one at an index. */
function endOfParentheses(tokens: readonly Token[], open: number): number {
  let depth = 0;
  for (let at = open; at < tokens.length; at += 1) {
    if (tokens[at]?.text === "(") depth += 1;
    if (tokens[at]?.text === ")") depth -= 1;
    if (depth === 0) return at;
  }
  return tokens.length;
}

/** A MERGE that deletes rows without a condition of its own: all that are matched, or all that are not. */
function inspectMerge(statement: Statement, tokens: readonly Token[]): Danger[] {
  const names = tokens.slice(isWord(tokens[1], "into") ? 2 : 1);
  let hasCondition = false;
  for (const [index, token] of tokens.entries()) {
    if (isWord(token, "when")) hasCondition = false;
    if (isWord(token, "and")) hasCondition = true;
    const deletes = isWord(token, "then") && isWord(tokens[index + 1], "delete");
    if (!deletes || hasCondition) continue;
    const objects = readObjects(names, "table").slice(0, 1);
    return [{ kind: "merge_delete", target: readTarget(names), objects, statement }];
  }
  return [];
}

function inspectMain(statement: Statement, verb: number): Danger[] {
  const { tokens } = statement;
  const first = tokens[verb];
  const rest = tokens.slice(verb + 1);
  if (isWord(first, "delete") || isWord(first, "update")) {
    return inspectWrite(statement, tokens.slice(verb));
  }
  if (isWord(first, "merge")) return inspectMerge(statement, tokens.slice(verb));
  if (isWord(first, "truncate")) {
    const names = isWord(rest[0], "table") ? rest.slice(1) : rest;
    const objects = readObjects(names, "table");
    return [{ kind: "truncate", target: readTarget(names), objects, statement }];
  }
  if (isWord(first, "drop")) return [{ kind: "drop", ...readDropped(rest), statement }];
  if (isWord(first, "alter")) return inspectAlter(statement, rest);
  return [];
}

/** Index of the verb that the statement runs; behind WITH and EXPLAIN ANALYZE it is not the first word. */
function findMainVerb(tokens: readonly Token[]): number | null {
  if (isWord(tokens[0], "explain")) {
    const runs = tokens.slice(0, 16).some((token) => isWord(token, "analyze", "analyse"));
    const verb = tokens.findIndex((token) => isWord(token, ...mainVerbs));
    return runs && verb >= 0 ? verb : null;
  }
  if (!isWord(tokens[0], "with")) return tokens.length === 0 ? null : 0;
  let depth = 0;
  for (const [index, token] of tokens.entries()) {
    if (token.text === "(") depth += 1;
    if (token.text === ")") depth -= 1;
    if (depth === 0 && index > 0 && isWord(token, ...mainVerbs)) return index;
  }
  return null;
}

const mainVerbs = ["select", "insert", "update", "delete", "merge", "values", "truncate"];

function inspectWrite(statement: Statement, tokens: readonly Token[]): Danger[] {
  const isDelete = isWord(tokens[0], "delete");
  let depth = 0;
  for (const token of tokens) {
    if (token.text === "(") depth += 1;
    if (token.text === ")") depth -= 1;
    if (depth === 0 && isWord(token, "where")) return [];
  }
  const names = tokens.slice(isDelete ? 2 : 1);
  const objects = readObjects(names, "table").slice(0, 1);
  const kind = isDelete ? "delete_all" : "update_all";
  return [{ kind, target: readTarget(names), objects, statement }];
}

function inspectAlter(statement: Statement, rest: readonly Token[]): Danger[] {
  if (!isWord(rest[0], "table")) return [];
  const table = readTarget(rest.slice(1));
  const objects = readObjects(rest.slice(1), "table").slice(0, 1);
  const dangers: Danger[] = [];
  for (const [index, token] of rest.entries()) {
    const next = rest[index + 1];
    if (isWord(token, "drop") && !isWord(next, "constraint", "default", "not", "identity")) {
      if (isWord(next, "expression")) continue;
      const column = readTarget(rest.slice(isWord(next, "column") ? index + 2 : index + 1));
      const target = `column ${column} of ${table}`;
      dangers.push({ kind: "drop_column", target, objects, statement });
    }
    if (isWord(token, "disable") && isWord(next, "row")) {
      dangers.push({ kind: "disable_rls", target: table, objects, statement });
    }
  }
  return dangers;
}

/** Reads what a DROP removes: `table items` or `materialized view totals`, and the objects whose rows can be counted. */
function readDropped(tokens: readonly Token[]): Pick<Danger, "target" | "objects"> {
  const kind: string[] = [];
  let at = 0;
  for (; at < tokens.length; at += 1) {
    const token = tokens[at];
    if (token === undefined || !isWord(token, ...droppedKinds)) break;
    kind.push(token.text.toLowerCase());
  }
  const names = tokens.slice(at);
  const counted = countedKinds[kind.join(" ")];
  return {
    target: [...kind, readTarget(names)].join(" "),
    objects: counted === undefined ? [] : readObjects(names, counted),
  };
}

const countedKinds: Readonly<Record<string, CountedObject["kind"]>> = {
  table: "table",
  "foreign table": "table",
  "materialized view": "table",
  view: "relation",
  index: "relation",
  sequence: "relation",
  type: "type",
  domain: "type",
  function: "function",
  procedure: "function",
  routine: "function",
  aggregate: "function",
  schema: "schema",
};

const droppedKinds =
  `table view materialized schema database index sequence function procedure routine aggregate type
  domain extension trigger policy rule role user publication subscription server foreign data wrapper event collation
  text search configuration dictionary operator class family cast owned by`.split(/\s+/);

/** Reads a list of names, which ends at the first word that is not a name, such as CASCADE. */
function readObjects(tokens: readonly Token[], kind: CountedObject["kind"]): CountedObject[] {
  const objects: CountedObject[] = [];
  let depth = 0;
  let from = 0;
  for (const [index, token] of tokens.entries()) {
    if (token.text === "(") depth += 1;
    if (token.text === ")") depth -= 1;
    const isLast = index === tokens.length - 1;
    if (!isLast && (token.text !== "," || depth > 0)) continue;
    const names = readNames(tokens.slice(from, isLast ? index + 1 : index));
    if (names.length > 0) objects.push({ kind, name: names.map(quoteIdentifier).join(".") });
    from = index + 1;
  }
  return objects;
}

/** A possibly qualified name behind ONLY, IF EXISTS or CONCURRENTLY, as people write it. */
function readTarget(tokens: readonly Token[]): string {
  return readNames(tokens).join(".");
}

function readNames(tokens: readonly Token[]): string[] {
  const names: string[] = [];
  let expectsName = true;
  for (const token of tokens) {
    if (names.length === 0 && isWord(token, "only", "if", "exists", "concurrently")) continue;
    if (token.text === "." && !expectsName) expectsName = true;
    else if (expectsName && (token.kind === "word" || token.kind === "quoted")) {
      names.push(nameOf(token));
      expectsName = false;
    } else break;
  }
  return names;
}
