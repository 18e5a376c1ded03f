/** Which tables a statement reads, under which names: what completion offers columns of. */
import type { Statement } from "./statements";
import { isWord, nameOf, type Token } from "./tokens";

export interface ScopeTable {
  schema: string | null;
  name: string;
  /** Alias, or the table's own name. */
  alias: string;
}

export interface Scope {
  tables: ScopeTable[];
  /** Names of WITH queries, and the columns where the statement lists them. */
  queries: { name: string; columns: string[] }[];
}

const introducers = ["from", "join", "update", "into", "using", "table"];

/** Words that follow a table's name and are therefore not its alias. */
const notAliases = new Set(
  `where on using set join inner left right full cross natural group order having limit offset union intersect except
   returning values select default for window fetch as lateral when do not and or tablesample only default overriding
   add alter drop rename enable disable force validate owner attach detach cascade restrict to with from`.split(
    /\s+/,
  ),
);

/** Reads the names of all tables in the statement, those of inner queries too. */
export function readScope({ tokens }: Pick<Statement, "tokens">): Scope {
  const scope: Scope = { tables: [], queries: readWithQueries(tokens) };
  for (let at = 0; at < tokens.length; at += 1) {
    const token = tokens[at];
    if (token === undefined || !isWord(token, ...introducers)) continue;
    if (isWord(token, "from") && isFromOfFunction(tokens, at)) continue;
    at = readTables(tokens, at + 1, isWord(token, "from", "using"), scope.tables) - 1;
  }
  return scope;
}

/** `extract(day from x)`, `trim(both from x)`, `is distinct from x` have a FROM that names no table. */
function isFromOfFunction(tokens: readonly Token[], at: number): boolean {
  if (isWord(tokens[at - 1], "distinct")) return true;
  let depth = 0;
  for (let index = at - 1; index >= 0; index -= 1) {
    const token = tokens[index];
    if (token?.text === ")") depth += 1;
    if (token?.text === "(") depth -= 1;
    if (depth < 0) return isWord(tokens[index - 1], "extract", "trim", "substring", "overlay");
    if (depth === 0 && isWord(token, "select", "delete")) return false;
  }
  return false;
}

/** Reads one table, or a list with commas, beginning at an index; returns the index behind it. */
function readTables(
  tokens: readonly Token[],
  from: number,
  isList: boolean,
  found: ScopeTable[],
): number {
  let at = from;
  for (;;) {
    while (isWord(tokens[at], "only", "lateral", "if", "exists", "not", "table")) at += 1;
    const names: string[] = [];
    while (isName(tokens[at])) {
      names.push(nameOf(tokens[at] as Token));
      at += 1;
      if (tokens[at]?.text !== ".") break;
      at += 1;
    }
    const name = names.at(-1);
    // Behind a dot that nothing follows yet, the name before it is a schema and no table.
    if (name === undefined || tokens[at - 1]?.text === ".") return at;
    if (tokens[at]?.text === "(" && !isList) {
      recordTable(found, names, name);
      return at;
    }
    if (isWord(tokens[at], "as")) at += 1;
    const next = tokens[at];
    const hasAlias = isName(next) && !(next?.kind === "word" && notAliases.has(nameOf(next)));
    recordTable(found, names, hasAlias && next !== undefined ? nameOf(next) : name);
    if (hasAlias) at += 1;
    if (!isList || tokens[at]?.text !== ",") return at;
    at += 1;
  }
}

function recordTable(found: ScopeTable[], names: readonly string[], alias: string): void {
  const name = names.at(-1) ?? "";
  found.push({ schema: names.length > 1 ? (names.at(-2) ?? null) : null, name, alias });
}

function isName(token: Token | undefined): boolean {
  if (token?.kind === "quoted") return true;
  return token?.kind === "word" && !isWord(token, "select", "values", "where", "on", "set");
}

function readWithQueries(tokens: readonly Token[]): Scope["queries"] {
  const queries: Scope["queries"] = [];
  if (!isWord(tokens[0], "with")) return queries;
  let depth = 0;
  for (const [index, token] of tokens.entries()) {
    if (token.text === "(") depth += 1;
    if (token.text === ")") depth -= 1;
    if (depth > 0 || !isName(token)) continue;
    const next = tokens[index + 1];
    if (isWord(next, "as")) queries.push({ name: nameOf(token), columns: [] });
    else if (next?.text === "(" && !isWord(token, "as", "materialized", "in", "values")) {
      const close = tokens.findIndex((other, at) => at > index && other.text === ")");
      if (!isWord(tokens[close + 1], "as")) continue;
      const columns = tokens
        .slice(index + 2, close)
        .filter(isName)
        .map(nameOf);
      queries.push({ name: nameOf(token), columns });
    }
  }
  return queries;
}
