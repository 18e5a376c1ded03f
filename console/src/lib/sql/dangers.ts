/**
 * Names the statements that change or destroy more than their writer may have meant (CONSOLE-094). It reads words
 * only, so a function that deletes passes unseen: the question is a courtesy and protects nothing.
 */
import { type Statement, splitStatements } from "./statements";
import { isWord, nameOf, type Token } from "./tokens";

export type DangerKind =
  | "delete_all"
  | "update_all"
  | "drop"
  | "truncate"
  | "drop_column"
  | "disable_rls";

export interface Danger {
  kind: DangerKind;
  /** What it is about, as written: `public.items`, `column note of items`. */
  target: string;
  statement: Statement;
}

/** What in the text deserves a question before it is run, in order. */
export function findDangers(sql: string): Danger[] {
  return splitStatements(sql).flatMap((statement) => inspectStatement(statement));
}

function inspectStatement(statement: Statement): Danger[] {
  const { tokens } = statement;
  const verb = findMainVerb(tokens);
  if (verb === null) return [];
  const first = tokens[verb];
  const rest = tokens.slice(verb + 1);
  if (isWord(first, "delete") || isWord(first, "update")) return inspectWrite(statement, verb);
  if (isWord(first, "truncate")) {
    const target = readTarget(isWord(rest[0], "table") ? rest.slice(1) : rest);
    return [{ kind: "truncate", target, statement }];
  }
  if (isWord(first, "drop")) return [{ kind: "drop", target: readDropped(rest), statement }];
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

function inspectWrite(statement: Statement, verb: number): Danger[] {
  const tokens = statement.tokens.slice(verb);
  const isDelete = isWord(tokens[0], "delete");
  let depth = 0;
  for (const token of tokens) {
    if (token.text === "(") depth += 1;
    if (token.text === ")") depth -= 1;
    if (depth === 0 && isWord(token, "where")) return [];
  }
  const target = readTarget(tokens.slice(isDelete ? 2 : 1));
  return [{ kind: isDelete ? "delete_all" : "update_all", target, statement }];
}

function inspectAlter(statement: Statement, rest: readonly Token[]): Danger[] {
  if (!isWord(rest[0], "table")) return [];
  const table = readTarget(rest.slice(1));
  const dangers: Danger[] = [];
  for (const [index, token] of rest.entries()) {
    const next = rest[index + 1];
    if (isWord(token, "drop") && !isWord(next, "constraint", "default", "not", "identity")) {
      if (isWord(next, "expression")) continue;
      const column = readTarget(rest.slice(isWord(next, "column") ? index + 2 : index + 1));
      dangers.push({ kind: "drop_column", target: `column ${column} of ${table}`, statement });
    }
    if (isWord(token, "disable") && isWord(next, "row")) {
      dangers.push({ kind: "disable_rls", target: table, statement });
    }
  }
  return dangers;
}

/** `table items`, `materialized view totals`: what kind of object a DROP removes, and its name. */
function readDropped(tokens: readonly Token[]): string {
  const kind: string[] = [];
  let at = 0;
  for (; at < tokens.length; at += 1) {
    const token = tokens[at];
    if (token === undefined || !isWord(token, ...droppedKinds)) break;
    kind.push(token.text.toLowerCase());
  }
  return [...kind, readTarget(tokens.slice(at))].join(" ");
}

const droppedKinds =
  `table view materialized schema database index sequence function procedure routine aggregate type
  domain extension trigger policy rule role user publication subscription server foreign data wrapper event collation
  text search configuration dictionary operator class family cast owned by`.split(/\s+/);

/** A possibly qualified name behind ONLY, IF EXISTS or CONCURRENTLY. */
function readTarget(tokens: readonly Token[]): string {
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
  return names.join(".");
}
