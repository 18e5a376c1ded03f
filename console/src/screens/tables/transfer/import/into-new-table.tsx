import { useQueryClient } from "@tanstack/react-query";
import { Button } from "@ui/button";
import { isSameValue } from "@ui/merge-edit";
import { useEffect, useState } from "react";
import { useNavigate } from "react-router";
import { catalogQuery } from "@/api/catalog";
import { useSession, whyNoSchemaChanges } from "@/api/session";
import { Field } from "@/components/field";
import { Checkbox, Input } from "@/components/input";
import { MigrationDialog } from "@/components/migration-dialog";
import { Text } from "@/components/text";
import { formatNumber } from "@/lib/format";
import { createTable } from "@/lib/sql/ddl/tables";
import { TypeInput } from "@/screens/schema/forms/choices";
import { type CheckedTypes, findMisfits } from "./check-types";
import { ColumnTable } from "./column-table";
import { FileDrop } from "./file-drop";
import { FileFormFields } from "./file-form";
import { ImportFrame } from "./import-frame";
import { ImportOutcome } from "./import-outcome";
import { ChosenFileLine } from "./into-table";
import {
  draftTable,
  findCreated,
  findTableFault,
  guessTable,
  type ImportedColumn,
  type ImportedTable,
  type ImportedTableChanges,
  mappingOf,
  withChanges,
} from "./new-table-draft";
import { previewFile } from "./read-file";
import { type ChosenFile, useImport } from "./use-import";

/** The table that was made for the file. */
interface CreatedTable {
  oid: string;
  name: string;
  /** What the form had when it was made, and the titles of the file that it was made for. */
  table: ImportedTable;
  titles: readonly string[];
}

/** Why this file cannot be imported into the table that was made for another; null when it can. */
function whyOther(created: CreatedTable, titles: readonly string[]): string | null {
  return isSameValue(created.titles, titles)
    ? null
    : `${created.name} was made for other columns. Close this, and import the file on the table's own page.`;
}

interface ImportIntoNewTableProps {
  /** Names of existing relations in the schema public. */
  taken: readonly string[];
  onClose: () => void;
}

/** Imports a file into a new table: creates the table by a migration, then imports the rows. */
export function ImportIntoNewTable({ taken, onClose }: ImportIntoNewTableProps) {
  const file = useImport();
  const client = useQueryClient();
  const navigate = useNavigate();
  const session = useSession();
  const [changes, setChanges] = useState<ImportedTableChanges | null>(null);
  const [nullText, setNullText] = useState("");
  const [leavesOut, setLeavesOut] = useState(false);
  const [asks, setAsks] = useState(false);
  /** The tables that were there when the SQL was shown. */
  const [known, setKnown] = useState<ReadonlySet<string>>(new Set());
  const [created, setCreated] = useState<CreatedTable | null>(null);
  /** Whether the SQL was run. The table is known once the catalog was read after it. */
  const [isMade, setMade] = useState(false);
  const [notFilled, setNotFilled] = useState<string | null>(null);
  const { chosen, preview, state } = file;
  const { misfits, checkedRows, isChecking } = useMisfits(chosen);
  const titles = preview?.titles ?? [];
  const guessed =
    chosen === null || preview === null
      ? { name: "", columns: [] }
      : guessTable(chosen.file.name, preview, misfits);
  const table = created?.table ?? withChanges(guessed, changes, chosen?.file, titles);
  const isRunning = state.step === "running";
  const isDone = state.step === "done";
  const refusal =
    whyNoSchemaChanges(session) ??
    (session.migrations === false ? session.reasons?.migrations : undefined);
  const madeFault = created === null ? null : whyOther(created, titles);
  const tableFault = isMade ? madeFault : findTableFault(table, taken);
  const fault = isChecking ? "The types are compared with the values of the file." : tableFault;
  function change(edit: (before: ImportedTableChanges) => ImportedTableChanges): void {
    if (chosen === null) return;
    const { file: of } = chosen;
    setChanges((last) => {
      const kept = last?.file === of ? last : null;
      const columns = kept !== null && isSameValue(kept.titles, titles) ? kept.columns : {};
      return edit({ ...kept, file: of, titles, columns });
    });
  }
  const rename = (name: string) => change((before) => ({ ...before, name }));
  const changeColumn = (index: number, next: Partial<ImportedColumn>) =>
    change((before) => ({
      ...before,
      columns: { ...before.columns, [index]: { ...before.columns[index], ...next } },
    }));
  function ask(): void {
    const { tables = [] } = client.getQueryData(catalogQuery.queryKey) ?? {};
    setKnown(new Set(tables.map(({ oid }) => oid)));
    setAsks(true);
  }

  /** Imports the rows after the table was created; its oid is read from the catalog. */
  async function fill(): Promise<void> {
    if (chosen === null) return;
    const mapping = mappingOf(table);
    let made = created;
    if (made === null) {
      const catalog = await client
        .fetchQuery({ ...catalogQuery, staleTime: 0 })
        .catch((error: Error) => {
          setNotFilled(
            `The SQL was run. Nothing is imported yet, because the table could not be looked up: ${error.message}`,
          );
          return null;
        });
      if (catalog === null) return;
      const found = findCreated(catalog.tables, table, known);
      if (typeof found === "string") {
        setNotFilled(found);
        setMade(false);
        return;
      }
      made = { oid: found.oid, name: found.name, table, titles };
      setCreated(made);
    }
    setNotFilled(null);
    await file.start({ table: made.oid, mapping, form: chosen.form, nullText, leavesOut });
  }

  function close(): void {
    onClose();
    if (created !== null) void navigate(`/tables/public/${encodeURIComponent(created.name)}`);
  }

  return (
    <>
      <ImportFrame
        title="Import a file as a new table"
        isRunning={isRunning}
        isDone={isDone}
        note={refusal ?? (chosen === null ? undefined : (fault ?? undefined))}
        onCancel={file.cancel}
        onClose={close}
        action={
          chosen !== null && (
            <Button
              size="dense"
              variant="primary"
              disabled={refusal !== undefined || fault !== null || file.readError !== null}
              title={refusal}
              pending={isRunning}
              onClick={() => (isMade ? void fill() : ask())}
            >
              {isMade ? "Import" : "Show the table"}
            </Button>
          )
        }
      >
        {chosen === null || preview === null || file.readError !== null ? (
          <FileDrop error={file.readError} onChoose={(next) => void file.choose(next)} />
        ) : (
          <div className="grid grid-cols-[minmax(0,1fr)] gap-4">
            {!isDone && (
              <>
                <ChosenFileLine file={chosen.file} disabled={isRunning} onChoose={file.choose} />
                <Field
                  label="Name of the table"
                  hint="It is made in the schema public, with row-level security and a key."
                >
                  {(attributes) => (
                    <Input
                      {...attributes}
                      mono
                      disabled={isMade}
                      className="max-w-72"
                      value={table.name}
                      onChange={(event) => rename(event.target.value)}
                    />
                  )}
                </Field>
                <FileFormFields
                  form={chosen.form}
                  nullText={nullText}
                  leavesOut={leavesOut}
                  disabled={isRunning}
                  onForm={file.setForm}
                  onNullText={setNullText}
                  onLeavesOut={setLeavesOut}
                />
                {checkedRows !== null && (
                  <p role="status" className="text-caption text-warning">
                    The types are those of the first {formatNumber(checkedRows)} rows; the rest was
                    not looked at. Choose text where later values may look different.
                  </p>
                )}
                <ColumnTable
                  preview={preview}
                  choiceLabel="Name and type in the table"
                  renderChoice={(index) => (
                    <NewColumn
                      column={table.columns[index]}
                      label={preview.titles[index] || `column ${index + 1}`}
                      disabled={isMade || isRunning}
                      onChange={(next) => changeColumn(index, next)}
                    />
                  )}
                />
              </>
            )}
            {notFilled !== null && (
              <p role="alert" className="text-caption text-danger">
                <Text>{notFilled}</Text>
              </p>
            )}
            <ImportOutcome
              state={state}
              file={chosen.file}
              mapping={mappingOf(table)}
              table={`public.${created?.name ?? table.name}`}
            />
          </div>
        )}
      </ImportFrame>
      {asks && preview !== null && (
        <MigrationDialog
          title={`Create table ${table.name}`}
          sql={createTable(draftTable(table, preview))}
          onClose={() => setAsks(false)}
          onDone={() => {
            setMade(true);
            void fill();
          }}
        />
      )}
    </>
  );
}

/** The columns whose guessed type does not fit all values that are read ahead. */
function useMisfits(chosen: ChosenFile | null) {
  const [found, setFound] = useState<(CheckedTypes & { of: ChosenFile }) | null>(null);
  useEffect(() => {
    if (chosen === null) return undefined;
    const abort = new AbortController();
    const { file, form, beginning } = chosen;
    const { columns } = guessTable(file.name, previewFile(beginning, form), noMisfits);
    const types = columns.map(({ type }) => type);
    findMisfits(file, form, types, abort.signal).then(
      (checked) => {
        if (!abort.signal.aborted) setFound({ of: chosen, ...checked });
      },
      // A file that cannot be read fails when it is imported, too, and says so there.
      () => setFound({ of: chosen, misfits: noMisfits, checkedRows: null }),
    );
    return () => abort.abort();
  }, [chosen]);
  const isChecked = found !== null && found.of === chosen;
  return {
    misfits: isChecked ? found.misfits : noMisfits,
    checkedRows: isChecked ? found.checkedRows : null,
    isChecking: chosen !== null && !isChecked,
  };
}

const noMisfits: ReadonlySet<number> = new Set();

interface NewColumnProps {
  column: ImportedColumn | undefined;
  label: string;
  disabled: boolean;
  onChange: (changes: Partial<ImportedColumn>) => void;
}

function NewColumn({ column, label, disabled, onChange }: NewColumnProps) {
  if (column === undefined) return null;
  return (
    // Phones show the type below the name.
    <span className="grid grid-cols-[auto_minmax(0,1fr)] items-center gap-2 max-md:*:last:col-start-2 md:flex">
      <Checkbox
        aria-label={`Import ${label}`}
        checked={column.isIncluded}
        disabled={disabled}
        onChange={(event) => onChange({ isIncluded: event.target.checked })}
      />
      <Input
        mono
        aria-label={`Name for ${label}`}
        disabled={disabled || !column.isIncluded}
        value={column.name}
        onChange={(event) => onChange({ name: event.target.value })}
      />
      <span className="w-32 shrink-0">
        <TypeInput
          label={`Type for ${label}`}
          disabled={disabled || !column.isIncluded}
          value={column.type}
          onChange={(type) => onChange({ type })}
        />
      </span>
    </span>
  );
}
