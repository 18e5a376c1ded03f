import { useQueryClient } from "@tanstack/react-query";
import { Button } from "@ui/button";
import { useEffect, useState } from "react";
import { useNavigate } from "react-router";
import { catalogQuery } from "@/api/catalog";
import { useSession, whyNoSchemaChanges } from "@/api/session";
import { Field } from "@/components/field";
import { Checkbox, Input } from "@/components/input";
import { MigrationDialog } from "@/components/migration-dialog";
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
  findTableFault,
  guessTable,
  type ImportedColumn,
  type ImportedTable,
  mappingOf,
} from "./new-table-draft";
import { previewFile } from "./read-file";
import { type ChosenFile, useImport } from "./use-import";

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
  const [changed, setChanged] = useState<ImportedTable | null>(null);
  const [nullText, setNullText] = useState("");
  const [leavesOut, setLeavesOut] = useState(false);
  const [asks, setAsks] = useState(false);
  const [created, setCreated] = useState<string | null>(null);
  const { chosen, preview, state } = file;
  const { misfits, checkedRows, isChecking } = useMisfits(chosen);
  const guessed =
    chosen === null || preview === null
      ? { name: "", columns: [] }
      : guessTable(chosen.file.name, preview, misfits);
  const table = changed?.columns.length === guessed.columns.length ? changed : guessed;
  const isRunning = state.step === "running";
  const isDone = state.step === "done";
  const refusal =
    whyNoSchemaChanges(session) ??
    (session.migrations === false ? session.reasons?.migrations : undefined);
  const tableFault = created === null ? findTableFault(table, taken) : null;
  const fault = isChecking ? "The types are compared with the values of the file." : tableFault;
  const changeColumn = (index: number, changes: Partial<ImportedColumn>) =>
    setChanged({
      ...table,
      columns: table.columns.map((column, at) =>
        at === index ? { ...column, ...changes } : column,
      ),
    });

  /** Imports the rows after the table was created; its oid is read from the catalog. */
  async function fill(): Promise<void> {
    if (chosen === null) return;
    const catalog = await client.fetchQuery({ ...catalogQuery, staleTime: 0 });
    const found = catalog.tables.find(
      ({ schema, name }) => schema === "public" && name === table.name,
    );
    if (found === undefined) return;
    setCreated(found.oid);
    const mapping = mappingOf(table);
    await file.start({ table: found.oid, mapping, form: chosen.form, nullText, leavesOut });
  }

  function close(): void {
    onClose();
    if (created !== null) void navigate(`/tables/public/${encodeURIComponent(table.name)}`);
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
              onClick={() => (created === null ? setAsks(true) : void fill())}
            >
              {created === null ? "Show the table" : "Import"}
            </Button>
          )
        }
      >
        {chosen === null || preview === null || file.readError !== null ? (
          <FileDrop
            error={file.readError}
            onChoose={(next) => {
              setChanged(null);
              void file.choose(next);
            }}
          />
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
                      disabled={created !== null}
                      className="max-w-72"
                      value={table.name}
                      onChange={(event) => setChanged({ ...table, name: event.target.value })}
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
                      disabled={created !== null || isRunning}
                      onChange={(changes) => changeColumn(index, changes)}
                    />
                  )}
                />
              </>
            )}
            <ImportOutcome
              state={state}
              file={chosen.file}
              mapping={mappingOf(table)}
              table={`public.${table.name}`}
            />
          </div>
        )}
      </ImportFrame>
      {asks && preview !== null && (
        <MigrationDialog
          title={`Create table ${table.name}`}
          sql={createTable(draftTable(table, preview))}
          onClose={() => setAsks(false)}
          onDone={() => void fill()}
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
          value={column.type}
          onChange={(type) => onChange({ type })}
        />
      </span>
    </span>
  );
}
