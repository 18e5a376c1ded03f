/** Cells on the clipboard: as a spreadsheet's text for other programs, and exactly, with NULL and default, for the console. */
import type { Table } from "@/api/catalog-model";
import type { Subject } from "@/api/subject";
import { parseBlock, writeBlock } from "@/lib/rows/block";
import { type Cell, readCell } from "@/lib/rows/types";
import { toast } from "@/lib/toast";
import type { GridColumn } from "@/screens/tables/grid/data-grid";
import { cellOf, type GridRow } from "@/screens/tables/table-rows";

const cellsType = "application/x-selvedge-cells+json";

/** More cut values than this are not read one by one. */
const mostWholeCells = 200;
/** Longer texts are not put on the clipboard, which programs read whole. */
const longestText = 32_000_000;

/** A cell of a pasted block: exact from the console itself, else the text of a spreadsheet. */
export type PastedCell = string | Cell;

interface Copied {
  /** Whose cells they are: an account of a project. */
  owner: string;
  text: string;
  cells: Cell[][];
}

/** The block that was copied last, in any tab, for browsers that take the console's own type off the clipboard. */
let lastCopied: Copied | null = null;
const tabs = new BroadcastChannel("console:copied");
tabs.onmessage = ({ data }: MessageEvent<Copied>) => {
  lastCopied = data;
};

/** Longer copies are exact in this tab alone: each tab would read them on its main thread. In characters. */
const longestShared = 500_000;

function remember(copied: Copied): void {
  lastCopied = copied;
  if (copied.text.length <= longestShared) tabs.postMessage(copied);
}

export interface CopiedBlock {
  owner: string;
  rows: readonly GridRow[];
  columns: readonly GridColumn[];
}

interface CutCell {
  row: number;
  column: number;
}

function readBlock({ rows, columns }: CopiedBlock) {
  const cuts: CutCell[] = [];
  let isLoading = false;
  const cells = rows.map((row, rowIndex) =>
    columns.map(({ column }, columnIndex): Cell => {
      const cell = cellOf(row, column);
      if (cell.isMissing) isLoading = true;
      if (cell.bytes !== undefined && !cell.isChanged) {
        cuts.push({ row: rowIndex, column: columnIndex });
      }
      return cell.isDefault ? { default: true } : { value: cell.value };
    }),
  );
  return { cells, cuts, isLoading };
}

/** The text for other programs. A single cell is quoted, too, where its line ends and tabs would make several. */
function textOf(cells: readonly (readonly Cell[])[]): string {
  return writeBlock(cells.map((row) => row.map((cell) => ("value" in cell ? cell.value : null))));
}

function refuse(description: string): void {
  toast({ title: "It was not copied", description, tone: "danger" });
}

/**
 * Puts the cells on the clipboard. Values of which the grid holds the beginning alone are read whole before; what cannot be copied
 * whole is not copied at all.
 */
export function copyCells(
  clipboard: DataTransfer,
  block: CopiedBlock,
  table: Table,
  subject: Subject,
): void {
  const { cells, cuts, isLoading } = readBlock(block);
  if (cells.length === 0) return;
  if (isLoading) {
    refuse("A column is still being read. Copy again in a moment.");
    return;
  }
  if (cuts.length > 0) {
    void copyWholeCells(cells, cuts, block, table, subject);
    return;
  }
  const text = textOf(cells);
  remember({ owner: block.owner, text, cells });
  clipboard.setData("text/plain", text);
  clipboard.setData(cellsType, JSON.stringify(cells));
}

async function copyWholeCells(
  cells: Cell[][],
  cuts: readonly CutCell[],
  { owner, rows, columns }: CopiedBlock,
  table: Table,
  subject: Subject,
): Promise<void> {
  if (cuts.length > mostWholeCells) {
    refuse(`${cuts.length} of the values are shown only in part. Export the rows, or copy fewer.`);
    return;
  }
  async function readText(): Promise<string> {
    for (const cut of cuts) {
      const id = rows[cut.row]?.read?.id;
      const name = columns[cut.column]?.column.name;
      if (id === undefined || name === undefined) continue;
      const value = await readCell({ table: table.oid, row: id, column: name, subject });
      cells[cut.row]?.splice(cut.column, 1, { value });
    }
    const text = textOf(cells);
    if (text.length > longestText) throw new Error("The values are too long for the clipboard.");
    return text;
  }
  try {
    // The clipboard is asked at once and gets the text later: after a pause, browsers would no longer see the key that was pressed.
    const text = readText();
    const blob = text.then((whole) => new Blob([whole], { type: "text/plain" }));
    await navigator.clipboard.write([new ClipboardItem({ "text/plain": blob })]);
    remember({ owner, text: await text, cells });
    const values = cuts.length === 1 ? "a long value" : `${cuts.length} long values`;
    toast({ title: `Copied, with ${values} read whole`, tone: "success" });
  } catch (error) {
    const reason = error instanceof Error ? error.message : "";
    refuse(`The grid shows some of the values only in part. ${reason}`);
  }
}

const withPlainLineEnds = (text: string): string => text.replaceAll("\r\n", "\n");

/** The block on the clipboard. Its cells are exact when they come from the console, and are texts otherwise. */
export function readCells(clipboard: DataTransfer, owner: string): PastedCell[][] {
  const exact = parseCells(clipboard.getData(cellsType));
  if (exact !== null) return exact;
  const text = clipboard.getData("text/plain");
  // A picture or a file has no text either, and is not the NULL that was copied before it.
  if (text === "") return [];
  // Some systems rewrite the line ends of a text on their clipboard.
  const isLast = withPlainLineEnds(text) === withPlainLineEnds(lastCopied?.text ?? "");
  if (lastCopied !== null && lastCopied.owner === owner && isLast) return lastCopied.cells;
  return parseBlock(text);
}

function isCell(value: unknown): value is Cell {
  if (typeof value !== "object" || value === null) return false;
  if ("default" in value) return value.default === true;
  return "value" in value && (value.value === null || typeof value.value === "string");
}

function parseCells(text: string): Cell[][] | null {
  if (text === "") return null;
  try {
    const rows: unknown = JSON.parse(text);
    const isBlock =
      Array.isArray(rows) && rows.every((row) => Array.isArray(row) && row.every(isCell));
    return isBlock ? (rows as Cell[][]) : null;
  } catch {
    return null;
  }
}
