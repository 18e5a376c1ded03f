import type { KeyboardEvent } from "react";
import { keyOf } from "@/lib/shortcuts";
import type { Place } from "@/screens/tables/grid/data-grid";

export interface GridCommands {
  edit: () => void;
  open: () => void;
  select: (isRange: boolean) => void;
  setNull: () => void;
  remove: () => void;
  duplicate: () => void;
  toStart: () => void;
  toEnd: () => void;
}

const pageRows = 20;

/** The keys of the grid beside those of the whole screen, for the list of keys. */
export const gridKeys: readonly { keys: string; label: string }[] = [
  { keys: "up", label: "Move in the grid (any arrow)" },
  { keys: "home", label: "First rows of the table" },
  { keys: "end", label: "Last rows of the table" },
  { keys: "enter", label: "Open the row" },
  { keys: "e", label: "Edit the cell" },
  { keys: "space", label: "Select the row" },
  { keys: "alt+backspace", label: "Set the cell to NULL" },
  { keys: "delete", label: "Delete the row or the selection" },
  { keys: "d", label: "Duplicate the row" },
  { keys: "mod+c", label: "Copy the cell or the selected rows" },
  { keys: "mod+v", label: "Paste cells" },
];

/** Where a key moves the active cell, or null. */
export function moveOf(key: string, place: Place, rows: number, columns: number): Place | null {
  const limit = (value: number, count: number) => Math.max(0, Math.min(count - 1, value));
  const to = (row: number, column: number): Place => ({
    row: limit(row, rows),
    column: limit(column, columns),
  });
  switch (key) {
    case "up":
      return to(place.row - 1, place.column);
    case "down":
      return to(place.row + 1, place.column);
    case "left":
      return to(place.row, place.column - 1);
    case "right":
      return to(place.row, place.column + 1);
    case "pageup":
      return to(place.row - pageRows, place.column);
    case "pagedown":
      return to(place.row + pageRows, place.column);
    case "mod+left":
      return to(place.row, 0);
    case "mod+right":
      return to(place.row, columns - 1);
    case "mod+up":
      return to(0, place.column);
    case "mod+down":
      return to(rows - 1, place.column);
    default:
      return null;
  }
}

/** Runs what a key means in the grid. Keys with `mod` never begin an edit. Returns whether the key meant something. */
export function runGridKey(event: KeyboardEvent, commands: GridCommands): boolean {
  switch (keyOf(event)) {
    case "e":
    case "f2":
      commands.edit();
      break;
    case "enter":
      commands.open();
      break;
    case "space":
      commands.select(false);
      break;
    case "shift+space":
      commands.select(true);
      break;
    case "alt+backspace":
      commands.setNull();
      break;
    case "delete":
      commands.remove();
      break;
    case "d":
      commands.duplicate();
      break;
    case "home":
      commands.toStart();
      break;
    case "end":
      commands.toEnd();
      break;
    default:
      return false;
  }
  event.preventDefault();
  return true;
}
