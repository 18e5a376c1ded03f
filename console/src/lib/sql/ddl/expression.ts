/** Expressions that a user writes into a form: a default, a check, a policy's condition. */
import { readMeaning, tokenize } from "../tokens";

/**
 * What is wrong with an expression before it is placed between other words of a statement; null when nothing is. An
 * open quote or a semicolon would change the statement around it, so the error appears at the field instead.
 */
export function findExpressionFault(expression: string): string | null {
  const tokens = tokenize(expression);
  let depth = 0;
  for (const token of readMeaning(tokens)) {
    if (token.text === ";") return "A semicolon ends the statement; write one expression.";
    if (token.text === "(") depth += 1;
    if (token.text === ")") depth -= 1;
    if (depth < 0) return "A closing parenthesis has no opening one.";
  }
  if (depth > 0) return "A parenthesis is not closed.";
  const last = tokens.at(-1);
  if (last === undefined) return null;
  if (last.kind === "comment") return "A comment at the end would hide what follows.";
  // A piece that runs to the end of the text may be unfinished: with a quote behind it, a finished one starts anew.
  if (last.kind === "string" || last.kind === "quoted") {
    const isOpen = tokenize(`${expression} x`).at(-1)?.text !== "x";
    if (isOpen) return "A quote is not closed.";
  }
  return null;
}
