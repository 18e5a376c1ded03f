import { useMemo } from "react";
import { type Catalog, type Table, whyNoRight } from "@/api/catalog-model";
import { storeOf, useSession, whyReadOnly } from "@/api/session";
import { stageBulk, stageInsert } from "@/lib/rows/staged";
import type { Values } from "@/lib/rows/types";
import { copyCells, type PastedCell } from "@/screens/tables/clipboard";
import type { Place } from "@/screens/tables/grid/data-grid";
import { useGridColumns } from "@/screens/tables/grid/use-grid-columns";
import {
  reportLateEdit,
  reportLosses,
  reportNotCopied,
  reportNotPasted,
  reportNotStaged,
  whyNotPasted,
} from "@/screens/tables/left-out";
import type { Staging } from "@/screens/tables/staged/use-staging";
import {
  countNewRows,
  sortByStageable,
  stageBlock,
  stageCells,
  stageCopy,
  stageRemovals,
} from "@/screens/tables/staging-actions";
import { type GridRow, stagedFor, useGridRows } from "@/screens/tables/table-rows";
import { useOpenRow } from "@/screens/tables/use-open-row";
import { useRowPages } from "@/screens/tables/use-row-pages";
import { useTableView } from "@/screens/tables/use-table-view";

/** Why rows of this table cannot be written by this session, or undefined. */
function whyNotWritable(table: Table, readOnly: string | undefined, isViewedAs: boolean) {
  if (readOnly !== undefined) return readOnly;
  if (isViewedAs) return "You are viewing as somebody else; go back to your own login to edit.";
  if (table.kind === "m") return "A materialized view is refreshed, not edited.";
  if (table.kind === "v") return "Rows of a view are edited in its tables.";
  if (table.kind === "f")
    return "Rows of a foreign table are changed on their own server or by SQL.";
  return undefined;
}

/** State of an open table: its view, rows, staged changes, active cell and selection, and what can be done with them. */
export function useTableEditor(table: Table, catalog: Catalog, staging: Staging) {
  const session = useSession();
  const owner = storeOf(session);
  const [view, changeView] = useTableView();
  const { columns, resize } = useGridColumns(table, catalog, view.hidden);
  const names = useMemo(() => columns.map(({ column }) => column.name), [columns]);
  const { query, rows: read, pages } = useRowPages(table, names, view);
  const staged = stagedFor(view.subject, staging.changes);
  const rows = useGridRows(table, read, staged);
  const hasAllColumns = names.length === table.columns.length;
  const open = useOpenRow({
    table,
    key: view.row,
    rows,
    hasAllColumns,
    staged,
    subject: view.subject,
  });
  const noWriting = whyNotWritable(table, whyReadOnly(session), view.subject.kind !== "admin");
  const { store } = staging;
  const stage = (row: GridRow, values: Values, merge?: string) => {
    const isGone =
      row.staged?.change.kind === "insert" &&
      !store.current().some(({ id }) => id === row.staged?.id);
    if (isGone) reportLateEdit(values);
    // A letter that is typed into the panel of such a row does not appear there.
    else if (merge === undefined)
      reportNotStaged(0, sortByStageable(store.current(), table, [row]).removed);
    store.update((changes) => stageCells(changes, table, [row], values), merge);
  };
  return {
    session,
    /** The account in its project, which the clipboard's cells are of. */
    owner,
    view,
    changeView,
    staging,
    columns,
    names,
    resize,
    query,
    pages,
    rows,
    open,
    /** Reasons why rows cannot be changed, inserted or deleted, by the account's level, the chosen role and PostgreSQL's privileges. */
    readOnly: noWriting ?? whyNoRight(table, "u"),
    noInsert: noWriting ?? whyNoRight(table, "i"),
    noDelete: noWriting ?? whyNoRight(table, "d"),
    stage,
    /** Stages what is typed into the row's form. The letters of one cell are one step for the undo. */
    type: (row: GridRow, values: Values) =>
      stage(row, values, `${table.oid} ${row.key} ${Object.keys(values).join()}`),
    insert() {
      store.update((changes) => stageInsert(changes, table.oid, {}));
      const added = store.current().at(-1);
      if (added !== undefined) changeView({ row: `new:${added.id}` });
    },
    duplicate: (row: GridRow) => store.update((changes) => stageCopy(changes, table, row)),
    remove: (removed: readonly GridRow[]) =>
      store.update((changes) => stageRemovals(changes, table, removed)),
    /** Stages values of rows that were selected a while ago, and says which of them it cannot be done for any more. */
    stageSelected(chosen: readonly GridRow[], values: Values) {
      store.refresh();
      const { stageable, written, removed } = sortByStageable(store.current(), table, chosen);
      reportNotStaged(written, removed);
      store.update((changes) => stageCells(changes, table, stageable, values));
    },
    stageMatching: (values: Values, expected: number) =>
      store.update((changes) =>
        stageBulk(changes, {
          kind: "update_matching",
          table: table.oid,
          filters: view.filters,
          values,
          expected,
        }),
      ),
    /** Pastes a block whose upper left cell is at the place: as a whole, or not at all with the reason. */
    paste(place: Place, block: readonly (readonly PastedCell[])[]) {
      const paste = { table, catalog, columns, rows, ...place, block };
      const refusal = whyNotPasted(countNewRows(paste), {
        hasMore: query.hasNextPage,
        isFiltered: view.filters.length > 0,
        noInsert: noWriting ?? whyNoRight(table, "i"),
      });
      if (refusal !== null) {
        reportNotPasted(refusal);
        return;
      }
      store.update((changes) => {
        const { staged, losses } = stageBlock(changes, paste);
        reportLosses(losses);
        return staged;
      });
    },
    /** Copies the selected rows, or else the cell at the place. */
    copy(place: Place, selected: ReadonlySet<string>, clipboard: DataTransfer) {
      const chosen = rows.filter(({ key }) => selected.has(key));
      const block =
        chosen.length > 0
          ? { owner, rows: chosen, columns }
          : {
              owner,
              rows: rows.slice(place.row, place.row + 1),
              columns: columns.slice(place.column, place.column + 1),
            };
      copyCells(clipboard, block, table, view.subject);
      if (chosen.length > 0 && chosen.length < selected.size) {
        reportNotCopied(selected.size - chosen.length);
      }
    },
  };
}

export type TableEditor = ReturnType<typeof useTableEditor>;

/**
 * The index of the active row when other rows were loaded: the same row where it is still there, else the same place. Of another
 * part of the table it is the edge that is shown.
 */
export function followRow(
  before: readonly { key: string }[],
  after: readonly { key: string }[],
  active: number,
  fromEnd: boolean,
): number {
  const key = before[active]?.key;
  if (key === undefined || after[active]?.key === key) return active;
  const index = after.findIndex((row) => row.key === key);
  if (index >= 0) return index;
  const last = Math.max(0, after.length - 1);
  const kept = new Set(after.map((row) => row.key));
  if (before.some((row) => kept.has(row.key))) return Math.min(active, last);
  return fromEnd ? last : 0;
}
