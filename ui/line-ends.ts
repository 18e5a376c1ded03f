/**
 * Line ends of an edited text. A textarea changes every CR LF and CR of its value to LF, so that editing one word would rewrite all
 * lines of a text from Windows.
 */

interface Line {
  text: string;
  /** The sign or signs that end it; empty for the last one. */
  end: string;
}

function splitLines(text: string): Line[] {
  const lines: Line[] = [];
  let start = 0;
  for (const { 0: end, index } of text.matchAll(/\r\n|\r|\n/g)) {
    lines.push({ text: text.slice(start, index), end });
    start = index + end.length;
  }
  lines.push({ text: text.slice(start), end: "" });
  return lines;
}

/** Whether the text has line ends that a textarea would change. */
export function hasForeignLineEnds(text: string): boolean {
  return text.includes("\r");
}

/** The line ends of a text in a word for its reader; undefined when they are plain line feeds, or there are none. */
export function nameLineEnds(text: string): "CRLF" | "CR" | "mixed line ends" | undefined {
  if (!hasForeignLineEnds(text)) return undefined;
  const kinds = new Set(splitLines(text).map(({ end }) => end));
  kinds.delete("");
  if (kinds.size > 1) return "mixed line ends";
  return kinds.has("\r\n") ? "CRLF" : "CR";
}

/** The end that most of the lines have. */
function mostFrequentEnd(lines: readonly Line[]): string {
  const counts = new Map<string, number>();
  for (const { end } of lines) if (end !== "") counts.set(end, (counts.get(end) ?? 0) + 1);
  let found = "\n";
  let most = 0;
  for (const [end, count] of counts) if (count > most) [found, most] = [end, count];
  return found;
}

/**
 * Gives a text from a textarea the line ends that it had before. Lines that are equal at the beginning and at the end keep their
 * own; those that were typed in between get the most frequent one.
 */
export function keepLineEnds(before: string, typed: string): string {
  if (!hasForeignLineEnds(before)) return typed;
  const old = splitLines(before);
  const lines = splitLines(typed);
  const usual = mostFrequentEnd(old);
  const shorter = Math.min(old.length, lines.length);
  let first = 0;
  while (first < shorter && old[first]?.text === lines[first]?.text) first += 1;
  let last = 0;
  while (
    last < shorter - first &&
    old[old.length - 1 - last]?.text === lines[lines.length - 1 - last]?.text
  ) {
    last += 1;
  }
  // An edit within a line leaves the number of lines, and then each line keeps its own end.
  const isSameCount = old.length === lines.length;
  return lines
    .map(({ text, end }, index) => {
      if (end === "") return text;
      const fromEnd = lines.length - 1 - index;
      const known =
        isSameCount || index < first
          ? old[index]
          : fromEnd < last
            ? old[old.length - 1 - fromEnd]
            : undefined;
      return text + (known === undefined || known.end === "" ? usual : known.end);
    })
    .join("");
}
