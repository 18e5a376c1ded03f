import type { ColumnKind } from "@/lib/rows/column-kind";

/**
 * Faults that can be told without the server, as a sentence, or null. PostgreSQL decides in the end; this only answers earlier, so
 * it must never refuse what PostgreSQL would take.
 */
export function findFault(kind: ColumnKind, type: string, text: string): string | null {
  switch (kind) {
    case "json":
      return jsonFault(text);
    case "uuid":
      return /^[{]?([0-9a-f]{4}-?){8}[}]?$/i.test(text.trim())
        ? null
        : "A uuid has 32 hexadecimal digits.";
    case "number":
      if (/^(smallint|integer|bigint)$/.test(type)) {
        // PostgreSQL 16 also takes underscores and other bases.
        return /^\s*[+-]?(\d[\d_]*|0x[\da-f_]+|0o[0-7_]+|0b[01_]+)\s*$/i.test(text)
          ? null
          : "This is not a whole number.";
      }
      return null;
    case "bytea":
      return text.startsWith("\\x") && !/^\\x([0-9a-f]{2}|\s)*$/i.test(text)
        ? "After \\x there are pairs of hexadecimal digits."
        : null;
    default:
      return null;
  }
}

function jsonFault(text: string): string | null {
  try {
    JSON.parse(text);
    return null;
  } catch (error) {
    return error instanceof Error ? error.message : "This is not JSON.";
  }
}

/** JSON with line breaks, or the text as it is when it cannot be laid out without changing a number. */
export function layOutJson(text: string): string {
  try {
    const value: unknown = JSON.parse(text);
    const laidOut = JSON.stringify(value, null, 2);
    // Numbers beyond the precision of the browser would be changed by reading and writing them.
    const compact = (json: string) => json.replace(/\s/g, "");
    return compact(laidOut) === compact(text) ? laidOut : text;
  } catch {
    return text;
  }
}
