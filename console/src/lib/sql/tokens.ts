/**
 * Splits SQL into words, quoted pieces, numbers, signs and comments, as PostgreSQL's scanner does. Nothing is refused:
 * an unfinished quote reaches to the end of the text, since that is what a half-typed statement looks like.
 */

export type TokenKind =
  | "word"
  | "quoted"
  | "string"
  | "number"
  | "sign"
  | "comment"
  | "parameter"
  | "space";

export interface Token {
  kind: TokenKind;
  /** Offsets in UTF-16 code units; `end` is exclusive. */
  start: number;
  end: number;
  text: string;
}

const patterns: readonly (readonly [TokenKind, RegExp])[] = [
  ["space", /\s+/y],
  ["comment", /--[^\n]*/y],
  ["number", /(?:0[xX][\da-fA-F_]+|\d[\d_]*(?:\.[\d_]*)?(?:[eE][+-]?\d+)?|\.\d+)/y],
  ["parameter", /\$\d+/y],
  ["word", /[\p{L}_][\p{L}\p{N}_$]*/uy],
  ["sign", /::|<=|>=|<>|!=|\|\||->>|->|[\s\S]/y],
];

/** The beginnings of quoted pieces. What follows is searched for, because a pattern for it would overflow with megabytes. */
const openings: readonly (readonly [TokenKind, RegExp, (sql: string, from: number) => number])[] = [
  ["string", /[eE]'/y, (sql, from) => endOfQuoted(sql, from, "'", true)],
  ["string", /(?:[bBxXnN]|[uU]&)?'/y, (sql, from) => endOfQuoted(sql, from, "'", false)],
  ["quoted", /(?:[uU]&)?"/y, (sql, from) => endOfQuoted(sql, from, '"', false)],
  ["string", /\$(?:[\p{L}_][\p{L}\d_]*)?\$/uy, endOfDollarQuoted],
];

/** The offset behind the closing quote; the end of the text where there is none. */
function endOfQuoted(sql: string, from: number, quote: string, hasEscapes: boolean): number {
  for (let at = from; at < sql.length; at += 1) {
    const sign = sql[at];
    if (hasEscapes && sign === "\\") at += 1;
    else if (sign === quote) {
      if (sql[at + 1] !== quote) return at + 1;
      at += 1;
    }
  }
  return sql.length;
}

function endOfDollarQuoted(sql: string, from: number): number {
  const tag = sql.slice(sql.lastIndexOf("$", from - 2), from);
  const close = sql.indexOf(tag, from);
  return close < 0 ? sql.length : close + tag.length;
}

/** All tokens in order, comments and spaces included; together they are the text. */
export function tokenize(sql: string): Token[] {
  const tokens: Token[] = [];
  let at = 0;
  while (at < sql.length) {
    const token = sql.startsWith("/*", at) ? readBlockComment(sql, at) : readToken(sql, at);
    tokens.push(token);
    at = token.end;
  }
  return tokens;
}

function readToken(sql: string, start: number): Token {
  for (const [kind, opening, findEnd] of openings) {
    opening.lastIndex = start;
    const open = opening.exec(sql)?.[0];
    if (open === undefined) continue;
    const end = findEnd(sql, start + open.length);
    return { kind, start, end, text: sql.slice(start, end) };
  }
  for (const [kind, pattern] of patterns) {
    pattern.lastIndex = start;
    const text = pattern.exec(sql)?.[0];
    if (text !== undefined) return { kind, start, end: start + text.length, text };
  }
  return { kind: "sign", start, end: start + 1, text: sql.charAt(start) };
}

/** PostgreSQL nests block comments, so the first closing sign does not always end one. */
function readBlockComment(sql: string, start: number): Token {
  let depth = 0;
  let at = start;
  do {
    if (sql.startsWith("/*", at)) depth += 1;
    else if (sql.startsWith("*/", at)) depth -= 1;
    else {
      at += 1;
      continue;
    }
    at += 2;
  } while (depth > 0 && at < sql.length);
  const end = Math.min(at, sql.length);
  return { kind: "comment", start, end, text: sql.slice(start, end) };
}

/** The tokens that mean something: neither space nor comment. */
export function readMeaning(tokens: readonly Token[]): Token[] {
  return tokens.filter(({ kind }) => kind !== "space" && kind !== "comment");
}

/** Whether the token is this word, in any case and not quoted. */
export function isWord(token: Token | undefined, ...words: readonly string[]): boolean {
  return token?.kind === "word" && words.includes(token.text.toLowerCase());
}

/** Returns the name in a word or quoted token: folded to lower case, or without its quotes. */
export function nameOf(token: Token): string {
  if (token.kind !== "quoted") return token.text.toLowerCase();
  const inner = token.text.endsWith('"') ? token.text.slice(1, -1) : token.text.slice(1);
  return inner.replaceAll('""', '"');
}
