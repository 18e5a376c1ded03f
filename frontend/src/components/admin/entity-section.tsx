import { Pencil, Trash2 } from "lucide-react";
import { type ReactNode, useState } from "react";
import type * as z from "zod/mini";
import type { AdminTable } from "@/lib/use-admin-table";
import { useOpenRow } from "@/lib/use-open-row";
import { ConfirmDialog } from "./confirm-dialog";
import { type Column, DataTable } from "./data-table";
import { EntityForm, type FieldSpec, type FormValues } from "./entity-form";
import { Pagination } from "./pagination";
import { RowButton } from "./row-button";
import { SectionPage } from "./section-page";

interface EntitySectionProps<Row extends { id: string; name: string }> {
  title: string;
  /** One row of the section, as in "Add Brand". */
  noun: string;
  searchPlaceholder: string;
  table: AdminTable<Row>;
  columns: readonly Column<Row>[];
  /** Sentences in place of an empty table: without a search, and with one. */
  empty: string;
  emptySearch: (term: string) => string;
  fields: readonly FieldSpec[];
  schema: z.ZodMiniType<FormValues, FormValues>;
  /** Values of the form for a row, or for a new one. */
  toValues: (row: Row | null) => FormValues;
  /** Both reject when they fail, after a toast has told why. `before` has the values that the form was opened with. */
  onSave: (values: FormValues, row: Row | null, before: FormValues | null) => Promise<unknown>;
  onDelete: (row: Row) => Promise<unknown>;
  /** Question before a row is deleted. */
  confirmation: (row: Row) => ReactNode;
  showsRange?: boolean;
  /** Heading when the rows could not be loaded. */
  errorTitle?: (message: string) => string;
  controls?: ReactNode;
}

/** A section whose rows are edited by one simple form: table, search, adding, editing and deleting. */
export function EntitySection<Row extends { id: string; name: string }>({
  title,
  noun,
  searchPlaceholder,
  table,
  columns,
  empty,
  emptySearch,
  fields,
  schema,
  toValues,
  onSave,
  onDelete,
  confirmation,
  showsRange = false,
  errorTitle,
  controls,
}: EntitySectionProps<Row>) {
  const opened = useOpenRow(table, noun);
  const [deleting, setDeleting] = useState<Row | null>(null);
  const [isDeleting, setIsDeleting] = useState(false);
  const { term, from } = table.request;
  const edited = opened.row;

  async function confirmDelete(row: Row) {
    setIsDeleting(true);
    // A failure was shown in a toast; the row is still there, so the question is closed either way.
    await onDelete(row).catch(() => undefined);
    setIsDeleting(false);
    setDeleting(null);
  }

  const actions: Column<Row> = {
    header: "Actions",
    className: "w-24 text-right whitespace-nowrap",
    cell: (row) => (
      <>
        <RowButton label={`Edit ${row.name}`} onClick={() => opened.open(row)}>
          <Pencil aria-hidden="true" />
        </RowButton>
        <RowButton label={`Delete ${row.name}`} onClick={() => setDeleting(row)}>
          <Trash2 aria-hidden="true" />
        </RowButton>
      </>
    ),
  };

  return (
    <SectionPage
      title={title}
      query={term}
      onSearch={table.search}
      searchPlaceholder={searchPlaceholder}
      addLabel={`Add ${noun}`}
      onAdd={opened.openNew}
      controls={controls}
    >
      <DataTable
        label={title}
        table={table}
        columns={[...columns, actions]}
        empty={term === "" ? empty : emptySearch(term)}
        onOpen={opened.open}
        {...(errorTitle !== undefined && { errorTitle })}
      />
      <Pagination
        page={table.page}
        pageCount={table.pageCount}
        onPage={table.setPage}
        showing={
          showsRange
            ? { from: from + 1, to: from + (table.rows?.length ?? 0), total: table.total }
            : undefined
        }
      />
      {(opened.isNew || edited !== null) && (
        <EntityForm
          title={edited === null ? `Add ${noun}` : `Edit ${noun}`}
          fields={fields}
          schema={schema}
          initial={toValues(edited)}
          onSave={(values) => onSave(values, edited, edited && toValues(edited))}
          onClose={opened.close}
        />
      )}
      {deleting !== null && (
        <ConfirmDialog
          title={`Delete ${deleting.name}?`}
          text={confirmation(deleting)}
          action="Delete"
          pending={isDeleting}
          onConfirm={() => void confirmDelete(deleting)}
          onCancel={() => setDeleting(null)}
        />
      )}
    </SectionPage>
  );
}
