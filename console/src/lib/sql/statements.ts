/** Finds the statements of a text, so that one of them can be run, and a dangerous one asked about. */
import { isWord, readMeaning, type Token, tokenize } from "./tokens";

export interface Statement {
  /** Offsets of the first and behind the last meaningful token, without the semicolon. */
  start: number;
  end: number;
  text: string;
  /** Tokens without spaces and comments. */
  tokens: readonly Token[];
}

/** Splits at the semicolons that end a statement; those in quotes, parentheses and SQL function bodies do not. */
export function splitStatements(sql: string): Statement[] {
  const statements: Statement[] = [];
  let current: Token[] = [];
  let parentheses = 0;
  let bodyDepth = 0;
  const finish = () => {
    const first = current[0];
    const last = current.at(-1);
    if (first !== undefined && last !== undefined) {
      const { start } = first;
      statements.push({
        start,
        end: last.end,
        text: sql.slice(start, last.end),
        tokens: current,
      });
    }
    current = [];
    parentheses = 0;
    bodyDepth = 0;
  };
  for (const token of readMeaning(tokenize(sql))) {
    if (token.text === ";" && parentheses === 0 && bodyDepth === 0) {
      finish();
      continue;
    }
    if (token.text === "(") parentheses += 1;
    if (token.text === ")") parentheses = Math.max(0, parentheses - 1);
    bodyDepth = followBody(bodyDepth, current.at(-1), token);
    current.push(token);
  }
  finish();
  return statements;
}

/** Depth within `BEGIN ATOMIC … END`, where CASE is the other word that END closes. */
function followBody(depth: number, before: Token | undefined, token: Token): number {
  if (isWord(token, "atomic") && isWord(before, "begin")) return 1;
  if (depth === 0) return 0;
  if (isWord(token, "case")) return depth + 1;
  return isWord(token, "end") ? depth - 1 : depth;
}

/** The statement at a cursor; between two statements it is the one before, because its end was just typed. */
export function findStatementAt(sql: string, offset: number): Statement | null {
  const statements = splitStatements(sql);
  const inside = statements.find(({ start, end }) => offset >= start && offset <= end + 1);
  return inside ?? statements.findLast(({ end }) => end < offset) ?? statements[0] ?? null;
}

/** Turns PostgreSQL's 1-based count of characters into an offset in UTF-16 units, where an emoji has two. */
export function offsetOfPosition(sql: string, position: number): number {
  let offset = 0;
  for (let left = position - 1; left > 0 && offset < sql.length; left -= 1) {
    offset += (sql.codePointAt(offset) ?? 0) > 0xffff ? 2 : 1;
  }
  return offset;
}

/** Finds the word at an error's position, to be underlined; a single character if there is no word. */
export function findWordAt(sql: string, offset: number): { from: number; to: number } {
  const from = Math.min(offset, Math.max(0, sql.length - 1));
  const token = tokenize(sql).find(({ start, end }) => from >= start && from < end);
  if (token === undefined || token.kind === "space") {
    return { from, to: Math.min(sql.length, from + 1) };
  }
  return { from: token.start, to: token.end };
}
