/** Says at once what was not staged, and why: a cell that is dropped without a word is missed when it is too late. */
import { plural } from "@/lib/format";
import type { Values } from "@/lib/rows/types";
import { toast } from "@/lib/toast";
import type { PasteLosses } from "@/screens/tables/staging-actions";

/** Says what was typed into a new row that has been written in the meantime, so that it can be typed again. */
export function reportLateEdit(values: Values): void {
  const texts = Object.entries(values).map(
    ([column, cell]) => `${column}: ${"value" in cell ? (cell.value ?? "NULL") : "default"}`,
  );
  toast({
    title: "The new row was written before this edit",
    description: `Edit the row again. You had typed ${texts.join(", ")}`,
    tone: "danger",
    durationMs: 60_000,
  });
}

/** Says which of the selected rows keep their values, and why. */
export function reportNotStaged(written: number, removed: number): void {
  if (written + removed === 0) return;
  const reasons = [
    ...(written > 0
      ? [
          `${plural(written, "new row")} of the selection ${written === 1 ? "is" : "are"} no longer staged: written or discarded meanwhile. Select ${written === 1 ? "it" : "them"} again.`,
        ]
      : []),
    ...(removed > 0
      ? [`${plural(removed, "row")} ${removed === 1 ? "is" : "are"} staged to be deleted.`]
      : []),
  ];
  toast({
    title: `${plural(written + removed, "selected row")} ${written + removed === 1 ? "was" : "were"} left out`,
    description: reasons.join(" "),
    tone: "danger",
    durationMs: 60_000,
  });
}

interface PasteLimits {
  /** Whether rows follow that are not loaded. */
  hasMore: boolean;
  isFiltered: boolean;
  /** Why no rows may be added, or undefined. */
  noInsert: string | undefined;
}

/** Why a block that is longer than the rows below its first cell is not pasted; null when it can be. */
export function whyNotPasted(newRows: number, limits: PasteLimits): string | null {
  if (newRows <= 0) return null;
  const rows = `${plural(newRows, "row")} of the block`;
  const be = newRows === 1 ? "is" : "are";
  if (limits.hasMore) {
    return `${rows} ${be} for rows of the table that are not loaded yet. Scroll down to load them, or paste fewer.`;
  }
  if (limits.isFiltered) {
    return `${rows} would be new, and new rows are not added while filters hide others. Remove the filters, or paste fewer.`;
  }
  if (limits.noInsert !== undefined) return `${rows} would be new. ${limits.noInsert}`;
  return null;
}

export function reportNotPasted(description: string): void {
  toast({ title: "Nothing was pasted", description, tone: "danger", durationMs: 60_000 });
}

/** Says that rows which were selected are not in the clipboard. */
export function reportNotCopied(count: number): void {
  toast({
    title: `${plural(count, "selected row")} ${count === 1 ? "was" : "were"} not copied`,
    description: "They are not loaded any more. Scroll to them and copy them by themselves.",
    tone: "danger",
    durationMs: 60_000,
  });
}

/** Says what of a pasted block was left out or read in another way. */
export function reportLosses({ beyond, fixed, written, removed, nulls }: PasteLosses): void {
  const left = [
    ...(beyond > 0
      ? [
          `The last ${plural(beyond, "column")} of the block: there is none right of the shown ones.`,
        ]
      : []),
    ...(fixed.size > 0 ? [`${[...fixed].join(", ")}: PostgreSQL fills it itself.`] : []),
    ...(removed > 0
      ? [`${plural(removed, "row")} ${removed === 1 ? "is" : "are"} staged to be deleted.`]
      : []),
    ...(written > 0
      ? [
          `${plural(written, "new row")} ${written === 1 ? "was" : "were"} written or discarded meanwhile.`,
        ]
      : []),
  ];
  const read = nulls > 0 ? [`The text NULL of ${plural(nulls, "cell")} was taken for NULL.`] : [];
  if (left.length + read.length === 0) return;
  toast({
    title: left.length > 0 ? "A part of the block was left out" : "Pasted with NULL",
    description: [...left, ...read].join(" "),
    ...(left.length > 0 && { tone: "danger" as const }),
    durationMs: 60_000,
  });
}
