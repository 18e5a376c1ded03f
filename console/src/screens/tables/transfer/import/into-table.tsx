import { Button } from "@ui/button";
import { isSameValue } from "@ui/merge-edit";
import { useState } from "react";
import type { Table } from "@/api/catalog-model";
import { Select } from "@/components/input";
import { Text } from "@/components/text";
import { formatBytes } from "@/lib/format";
import { ColumnTable } from "./column-table";
import { FileDrop } from "./file-drop";
import { FileFormFields } from "./file-form";
import { ImportFrame } from "./import-frame";
import { ImportOutcome } from "./import-outcome";
import {
  fillableColumns,
  findMappingFault,
  guessMapping,
  type Mapping,
  missingColumns,
} from "./mapping";
import { useImport } from "./use-import";

/** A mapping that was chosen by hand, and the file and the titles that it is for. */
interface ChosenMapping {
  file: File;
  titles: readonly string[];
  mapping: Mapping;
}

/** Imports a file into an existing table. */
export function ImportIntoTable({ table, onClose }: { table: Table; onClose: () => void }) {
  const file = useImport();
  const [choice, setChoice] = useState<ChosenMapping | null>(null);
  const [nullText, setNullText] = useState("");
  const [leavesOut, setLeavesOut] = useState(false);
  const { chosen, preview, state } = file;
  const titles = preview?.titles ?? [];
  const isChosen = choice?.file === chosen?.file && isSameValue(choice?.titles, titles);
  const mapping = choice !== null && isChosen ? choice.mapping : guessMapping(table, titles);
  function choose(index: number, column: string | null): void {
    if (chosen === null) return;
    const next = mapping.map((name, at) => (at === index ? column : name));
    setChoice({ file: chosen.file, titles, mapping: next });
  }
  const fault = findMappingFault(mapping);
  const missing = missingColumns(table, mapping);
  const isRunning = state.step === "running";
  const isDone = state.step === "done";
  return (
    <ImportFrame
      title={
        <>
          Import into <Text>{table.name}</Text>
        </>
      }
      isRunning={isRunning}
      isDone={isDone}
      note={chosen === null ? undefined : (fault ?? undefined)}
      onCancel={file.cancel}
      onClose={onClose}
      action={
        chosen !== null && (
          <Button
            size="dense"
            variant="primary"
            disabled={fault !== null || file.readError !== null}
            pending={isRunning}
            onClick={() =>
              void file.start({ table: table.oid, mapping, form: chosen.form, nullText, leavesOut })
            }
          >
            Import
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
              <FileFormFields
                form={chosen.form}
                nullText={nullText}
                leavesOut={leavesOut}
                disabled={isRunning}
                onForm={file.setForm}
                onNullText={setNullText}
                onLeavesOut={setLeavesOut}
              />
              <ColumnTable
                preview={preview}
                choiceLabel={`Column of ${table.name}`}
                renderChoice={(index) => (
                  <Select
                    aria-label={`Column for ${titles[index] || `column ${index + 1}`}`}
                    disabled={isRunning}
                    value={mapping[index] ?? ""}
                    onChange={(event) => choose(index, event.target.value || null)}
                  >
                    <option value="">Leave out</option>
                    {fillableColumns(table).map(({ name, type }) => (
                      <option key={name} value={name}>
                        {name} ({type})
                      </option>
                    ))}
                  </Select>
                )}
              />
              {missing.length > 0 && (
                <p role="status" className="text-caption text-warning">
                  <Text>{missing.join(", ")}</Text> must have a value and gets none from this file,
                  so every row will be refused unless a trigger fills it.
                </p>
              )}
            </>
          )}
          <ImportOutcome
            state={state}
            file={chosen.file}
            mapping={mapping}
            table={`${table.schema}.${table.name}`}
          />
        </div>
      )}
    </ImportFrame>
  );
}

interface ChosenFileLineProps {
  file: File;
  disabled: boolean;
  onChoose: (file: File) => Promise<void>;
}

/** Name and size of the chosen file, and a button to choose another one. */
export function ChosenFileLine({ file, disabled, onChoose }: ChosenFileLineProps) {
  return (
    <p className="flex flex-wrap items-center gap-x-3 gap-y-1 text-caption">
      <strong className="min-w-0 break-all font-medium">
        <Text>{file.name}</Text>
      </strong>
      <span className="text-ink-soft">{formatBytes(file.size)}</span>
      <label className="cursor-pointer underline underline-offset-2 focus-within:outline-2 focus-within:outline-accent">
        Choose another file
        <input
          type="file"
          className="sr-only"
          disabled={disabled}
          onChange={(event) => {
            const next = event.target.files?.[0];
            event.target.value = "";
            if (next !== undefined) void onChoose(next);
          }}
        />
      </label>
    </p>
  );
}
