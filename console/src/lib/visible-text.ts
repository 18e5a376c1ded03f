/**
 * Text of the database, cut into what can be shown as it is and characters that must be drawn as signs: control characters, which
 * are invisible, and those that turn the direction of the text around them, with which a name can pretend to be another.
 */
export interface TextPart {
  text: string;
  /** Name of the character, for a tooltip and screen readers, when the part is a sign. */
  sign?: string;
}

/** Control and format characters, lone surrogates, separators of lines, fillers without width, and selectors of variants. */
const invisible = /[\p{Cc}\p{Cf}\p{Cs}\u115f\u1160\u2028\u2029]|\p{Variation_Selector}/gu;

const names: Record<number, string> = {
  9: "tab",
  10: "line feed",
  13: "carriage return",
  173: "soft hyphen",
  1564: "arabic letter mark",
  8203: "zero width space",
  8204: "zero width non-joiner",
  8205: "zero width joiner",
  8206: "left-to-right mark",
  8207: "right-to-left mark",
  8234: "left-to-right embedding",
  8235: "right-to-left embedding",
  8236: "pop directional formatting",
  8237: "left-to-right override",
  8238: "right-to-left override",
  8294: "left-to-right isolate",
  8295: "right-to-left isolate",
  8296: "first strong isolate",
  8297: "pop directional isolate",
  65279: "byte order mark",
};

const drawn: Record<number, string> = { 9: "⇥", 10: "⏎", 13: "␍" };

/** Returns a visible symbol for an invisible character: its Unicode picture if there is one, else its code point. */
export function signOf(codePoint: number): string {
  const known = drawn[codePoint];
  if (known !== undefined) return known;
  if (codePoint < 0x20) return String.fromCodePoint(0x2400 + codePoint);
  if (codePoint === 0x7f) return "\u2421";
  return `U+${codePoint.toString(16).toUpperCase().padStart(4, "0")}`;
}

/** Joiners between emoji and their presentation selectors are part of one visible picture and stay. */
function isPartOfEmoji(text: string, index: number, codePoint: number): boolean {
  if (codePoint !== 0x200d && codePoint !== 0xfe0f && codePoint !== 0xfe0e) return false;
  const before = text.slice(Math.max(0, index - 3), index);
  return /(\p{Extended_Pictographic}|\p{Emoji_Modifier}|[\ufe0f#*0-9])$/u.test(before);
}

/** With `multiline`, tabs and line feeds stay what they are, for texts that are shown in several lines. */
export function visibleParts(text: string, multiline = false): TextPart[] {
  const parts: TextPart[] = [];
  let end = 0;
  for (const match of text.matchAll(invisible)) {
    const codePoint = match[0].codePointAt(0) ?? 0;
    if (multiline && (codePoint === 9 || codePoint === 10)) continue;
    if (isPartOfEmoji(text, match.index, codePoint)) continue;
    if (match.index > end) parts.push({ text: text.slice(end, match.index) });
    parts.push({
      text: signOf(codePoint),
      sign: names[codePoint] ?? `character ${signOf(codePoint)}`,
    });
    end = match.index + match[0].length;
  }
  if (end < text.length) parts.push({ text: text.slice(end) });
  return parts;
}
