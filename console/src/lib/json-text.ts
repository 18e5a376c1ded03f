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
  if (/^-?\d+$/.test(token) && Number.isSafeInteger(Number(token))) return false;
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

/** Begins a text that stands for a number which JavaScript would round. No text of PostgreSQL has this character. */
const exactMark = "\0";

/**
 * Reads JSON. A number that JavaScript would round becomes a text in its place, with its digits, which {@link writeExact} writes as the
 * number again. Throws a SyntaxError for what is no JSON.
 */
export function parseExact(json: string): unknown {
  const value: unknown = JSON.parse(json);
  const tokens = tokensOf(json);
  if (!tokens.some(isRounded)) return value;
  const marked = tokens.map((token) =>
    isRounded(token) ? JSON.stringify(exactMark + token) : token,
  );
  return JSON.parse(marked.join(""));
}

/** Reads a JSON object of which these members keep the digits of their numbers, as {@link parseExact} has them. */
export function parseExactMembers(json: string, members: readonly string[]): object {
  const exact = parseExact(json) as Record<string, unknown>;
  const kept = members.filter((member) => member in exact);
  return {
    ...(JSON.parse(json) as object),
    ...Object.fromEntries(kept.map((member) => [member, exact[member]])),
  };
}

/** Writes what {@link parseExact} has read, by default without blanks. */
export function writeExact(value: unknown, indent = 0): string {
  return JSON.stringify(value, null, indent).replace(/"\\u0000([-+.\deE]+)"/g, "$1");
}

/** Whether a value of {@link parseExact} is a number that JavaScript would round. */
export const isExact = (value: unknown): value is string =>
  typeof value === "string" && value.startsWith(exactMark);

/** A value of {@link parseExact} for people: a text as it is, anything else as JSON. */
export const showExact = (value: unknown): string =>
  typeof value === "string" && !isExact(value) ? value : writeExact(value);

/** The first number in a value of {@link parseExact} that JavaScript would round, as it is written; null when there is none. */
export function findExact(value: unknown): string | null {
  if (isExact(value)) return value.slice(exactMark.length);
  if (typeof value !== "object" || value === null) return null;
  for (const part of Object.values(value)) {
    const found = findExact(part);
    if (found !== null) return found;
  }
  return null;
}

/** What to do about a number that cannot be kept. */
export const roundedFault = (number: string): string =>
  `${number} has more digits than JSON numbers keep. Write it as a text.`;
