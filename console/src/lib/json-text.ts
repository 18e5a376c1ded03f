/** JSON laid out without reading its numbers, because JavaScript's have fewer digits than PostgreSQL's. */

/** Whether the text is JSON. */
export function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** The strings, numbers, words and signs of valid JSON, as they were written. */
function tokensOf(json: string): string[] {
  return json.match(/"[^"\\]*(?:\\.[^"\\]*)*"|[-+.\w]+|[[\]{}:,]/g) ?? [];
}

/** Valid JSON without blanks between its parts. */
export function compactJson(json: string): string {
  return tokensOf(json).join("");
}

interface Layout {
  /** Levels that the whole is indented, but for its first line. */
  depth?: number;
  /** Writes a name; by default as it is. */
  name?: (token: string) => string;
  /** Writes any other value; by default as it is. */
  value?: (token: string) => string;
}

const same = (token: string): string => token;

/** Valid JSON with a line for each member. */
export function layOutJson(
  json: string,
  { depth: start = 0, name = same, value = same }: Layout = {},
): string {
  const tokens = tokensOf(json);
  let depth = start;
  const line = () => `\n${"  ".repeat(depth)}`;
  return tokens
    .map((token, index) => {
      const [before, after] = [tokens[index - 1], tokens[index + 1]];
      if (token === "{" || token === "[") {
        depth += 1;
        return after === "}" || after === "]" ? token : token + line();
      }
      if (token === "}" || token === "]") {
        depth -= 1;
        return before === "{" || before === "[" ? token : line() + token;
      }
      if (token === ",") return token + line();
      if (token === ":") return ": ";
      return after === ":" ? name(token) : value(token);
    })
    .join("");
}

/** Whether JavaScript reads another number than the one that is written. */
export function isRounded(token: string): boolean {
  if (!/^-?\d/.test(token)) return false;
  const digits = token
    .replace(/[eE].*$/, "")
    .replaceAll(/[-.]/g, "")
    .replace(/^0+/, "");
  return digits.replace(/0+$/, "").length > 15 || !Number.isFinite(Number(token));
}

/** The first number of valid JSON that JavaScript would round, as it is written; null when there is none. */
export function findRounded(json: string): string | null {
  return tokensOf(json).find(isRounded) ?? null;
}

/** What to do about a number that cannot be kept. */
export const roundedFault = (number: string): string =>
  `${number} has more digits than JSON numbers keep. Write it as a text.`;
