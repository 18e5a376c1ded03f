/** A rectangle of cells as spreadsheets put it on the clipboard: tabs between cells, line feeds between rows, quotes where needed. */
export function parseBlock(text: string): string[][] {
  const rows: string[][] = [];
  let row: string[] = [];
  let cell = "";
  let isQuoted = false;
  /** Whether the cell was quoted: the empty text, where nothing else stands in it. */
  let wasQuoted = false;
  for (let index = 0; index < text.length; index += 1) {
    const sign = text[index];
    if (isQuoted) {
      if (sign !== '"') cell += sign;
      else if (text[index + 1] === '"') {
        cell += '"';
        index += 1;
      } else isQuoted = false;
    } else if (sign === '"' && cell === "" && closesBeforeBorder(text, index)) {
      isQuoted = true;
      wasQuoted = true;
    } else if (sign === "\t") {
      row.push(cell);
      cell = "";
      wasQuoted = false;
    } else if (sign === "\n" || sign === "\r") {
      if (sign === "\r" && text[index + 1] === "\n") index += 1;
      rows.push([...row, cell]);
      row = [];
      cell = "";
      wasQuoted = false;
    } else cell += sign;
  }
  if (cell !== "" || wasQuoted || row.length > 0) rows.push([...row, cell]);
  return rows;
}

/** Whether a quote at the start of a cell ends right before a border. Otherwise it is part of the text, as in `"so" he said`. */
function closesBeforeBorder(text: string, start: number): boolean {
  for (let index = start + 1; index < text.length; index += 1) {
    if (text[index] !== '"') continue;
    if (text[index + 1] === '"') index += 1;
    else return [undefined, "\t", "\n", "\r"].includes(text[index + 1]);
  }
  return false;
}

/** The inverse, for copying a selection. Null becomes an empty cell, as in spreadsheets. */
export function writeBlock(rows: readonly (readonly (string | null)[])[]): string {
  return rows
    .map((row) =>
      row
        .map((cell) => {
          const text = cell ?? "";
          return /["\t\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
        })
        .join("\t"),
    )
    .join("\n");
}
