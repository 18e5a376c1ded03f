import { useIsShown } from "@ui/use-is-shown";
import { List, Pencil, Trash2 } from "lucide-react";
import { type ReactNode, useState } from "react";
import type * as z from "zod/mini";
import type { RowChange } from "@/lib/admin-rows";
import type { AdminTable } from "@/lib/use-admin-table";
import { useOpenRow } from "@/lib/use-open-row";
import { ConfirmDialog } from "./confirm-dialog";
import { type Column, DataTable } from "./data-table";
import { EntityForm, type FieldSpec, type FormValues } from "./entity-form";
import { Pagination } from "./pagination";
import { RowButton, RowLink } from "./row-button";
import { SectionPage } from "./section-page";

interface EditableRow {
  id: string;
  name: string;
  version: number;
}

interface EntitySectionProps<Row extends EditableRow> {
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
  /** Both reject when they fail, after a toast or the form itself has told why. */
  onSave: (change: RowChange<FormValues>) => Promise<unknown>;
  onDelete: (row: Row) => Promise<unknown>;
  /** Question before a row is deleted. */
  confirmation: (row: Row) => ReactNode;
  /** Where a row's own rows are listed, such as the items of a brand. */
  listLink?: { label: (row: Row) => string; to: (row: Row) => string };
  showsRange?: boolean;
  /** Heading when the rows could not be loaded. */
  errorTitle?: (message: string) => string;
  /** As of {@link SectionPage}. */
  files?: ReactNode;
  controls?: ReactNode;
}

/** A section whose rows are edited by one simple form: table, search, adding, editing and deleting. */
export function EntitySection<Row extends EditableRow>(props: EntitySectionProps<Row>) {
  const { title, noun, table, columns, empty, emptySearch, errorTitle } = props;
  const opened = useOpenRow(table, noun);
  const [deleting, setDeleting] = useState<Row | null>(null);
  const { term, from } = table.request;
  const shown = { from: from + 1, to: from + (table.rows?.length ?? 0), total: table.total };

  return (
    <SectionPage
      title={title}
      query={term}
      onSearch={table.search}
      searchPlaceholder={props.searchPlaceholder}
      addLabel={`Add ${noun}`}
      onAdd={opened.openNew}
      files={props.files}
      controls={props.controls}
    >
      <DataTable
        label={title}
        table={table}
        columns={[...columns, actionColumn(opened.open, setDeleting, props.listLink)]}
        empty={term === "" ? empty : emptySearch(term)}
        onOpen={opened.open}
        {...(errorTitle !== undefined && { errorTitle })}
      />
      <Pagination
        table={table}
        noun={`${title.charAt(0).toLowerCase()}${title.slice(1).toLowerCase()}`}
        showing={props.showsRange ? shown : undefined}
      />
      {(opened.isNew || opened.row !== null) && (
        <RowForm
          noun={noun}
          fields={props.fields}
          schema={props.schema}
          toValues={props.toValues}
          onSave={props.onSave}
          row={opened.row}
          onClose={opened.close}
        />
      )}
      {deleting !== null && (
        <DeleteQuestion {...props} row={deleting} onClose={() => setDeleting(null)} />
      )}
    </SectionPage>
  );
}

function actionColumn<Row extends { name: string }>(
  onEdit: (row: Row) => void,
  onDelete: (row: Row) => void,
  listLink: { label: (row: Row) => string; to: (row: Row) => string } | undefined,
): Column<Row> {
  return {
    header: "Actions",
    className: "w-24 text-right whitespace-nowrap",
    cell: (row) => (
      <>
        {listLink !== undefined && (
          <RowLink label={listLink.label(row)} to={listLink.to(row)}>
            <List aria-hidden="true" />
          </RowLink>
        )}
        <RowButton label={`Edit ${row.name}`} onClick={() => onEdit(row)}>
          <Pencil aria-hidden="true" />
        </RowButton>
        <RowButton label={`Delete ${row.name}`} onClick={() => onDelete(row)}>
          <Trash2 aria-hidden="true" />
        </RowButton>
      </>
    ),
  };
}

interface RowFormProps<Row extends EditableRow>
  extends Pick<EntitySectionProps<Row>, "noun" | "fields" | "schema" | "toValues" | "onSave"> {
  /** Null for a new row. */
  row: Row | null;
  onClose: () => void;
}

function RowForm<Row extends EditableRow>({ noun, row, ...form }: RowFormProps<Row>) {
  return (
    <EntityForm
      title={row === null ? `Add ${noun}` : `Edit ${noun}`}
      noun={noun.toLowerCase()}
      row={row}
      {...form}
    />
  );
}

interface DeleteQuestionProps<Row> {
  row: Row;
  confirmation: (row: Row) => ReactNode;
  onDelete: (row: Row) => Promise<unknown>;
  onClose: () => void;
}

function DeleteQuestion<Row extends { name: string }>({
  row,
  confirmation,
  onDelete,
  onClose,
}: DeleteQuestionProps<Row>) {
  const [isDeleting, setIsDeleting] = useState(false);
  const isShown = useIsShown();

  async function deleteRow() {
    setIsDeleting(true);
    // A failure was shown in a toast; the row is still there, so the question is closed either way.
    await onDelete(row).catch(() => undefined);
    // Cancelled meanwhile, it would close the question about another row.
    if (isShown()) onClose();
  }

  return (
    <ConfirmDialog
      title={`Delete ${row.name}?`}
      text={confirmation(row)}
      action="Delete"
      pending={isDeleting}
      onConfirm={() => void deleteRow()}
      onCancel={onClose}
    />
  );
}
