import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Button } from "@ui/button";
import { FileUp } from "lucide-react";
import { useId, useState } from "react";
import type { Table } from "@/api/catalog-model";
import { readLines, withQuery } from "@/api/client";
import { ApiError } from "@/api/error";
import { Dialog } from "@/components/dialog";
import { ErrorNotice } from "@/components/error-state";
import { Field } from "@/components/field";
import { Checkbox, Input, Select } from "@/components/input";
import { Text } from "@/components/text";
import { formatBytes, formatNumber, plural } from "@/lib/format";
import { toast } from "@/lib/toast";
import { findMappingFault, mapColumns, previewCsv } from "@/screens/tables/files/csv-preview";

interface ImportEvent {
  event: "progress" | "done" | "error";
  rows?: number;
  rejected?: number;
  bytes?: number;
  code?: string;
  message?: string;
  line?: number;
  column?: string;
  rejects_csv?: string;
}

interface Options {
  hasHeader: boolean;
  delimiter: string;
  encoding: string;
  nullToken: string;
  onError: "abort" | "reject";
}

const encodings = [
  { name: "UTF8", decoder: "utf-8", title: "UTF-8" },
  { name: "LATIN1", decoder: "iso-8859-1", title: "Latin 1" },
  { name: "WIN1252", decoder: "windows-1252", title: "Windows 1252" },
];

interface ImportDialogProps {
  table: Table;
  onClose: () => void;
}

/** Copies a CSV file into the table: mapping of columns, preview, and all or nothing unless rejects are wanted. */
export function ImportDialog({ table, onClose }: ImportDialogProps) {
  const client = useQueryClient();
  const inputId = useId();
  const [file, setFile] = useState<File | null>(null);
  const [changed, setChanged] = useState<(string | null)[] | null>(null);
  const [progress, setProgress] = useState<ImportEvent | null>(null);
  const [options, setOptions] = useState<Options>({
    hasHeader: true,
    delimiter: "",
    encoding: "UTF8",
    nullToken: "",
    onError: "abort",
  });
  const decoder = encodings.find(({ name }) => name === options.encoding)?.decoder ?? "utf-8";
  const preview = useQuery({
    queryKey: [
      "csv-preview",
      file?.name,
      file?.size,
      file?.lastModified,
      decoder,
      options.delimiter,
    ],
    queryFn: () => previewCsv(file ?? new Blob(), decoder, options.delimiter),
    enabled: file !== null,
  });
  const rows = preview.data?.rows ?? [];
  const first = rows[0] ?? [];
  const mapping = changed ?? mapColumns(table, first, options.hasHeader);
  const fault = file === null ? null : findMappingFault(table, mapping);
  const change = (part: Partial<Options>) => {
    setOptions((before) => ({ ...before, ...part }));
    setChanged(null);
  };
  const run = useMutation({
    mutationFn: async () => {
      const settings = {
        columns: mapping,
        header: options.hasHeader,
        delimiter: preview.data?.delimiter ?? ",",
        null: options.nullToken,
        encoding: options.encoding,
        on_error: options.onError,
      };
      const lines = readLines<ImportEvent>(withQuery("/api/rows/import", { table: table.oid }), {
        method: "POST",
        body: file ?? new Blob(),
        headers: {
          "content-type": "text/csv",
          // Names may hold any character, and a header only takes ASCII.
          "x-selvedge-import": JSON.stringify(settings).replace(
            /[\u0080-\uffff]/g,
            (sign) => `\\u${sign.charCodeAt(0).toString(16).padStart(4, "0")}`,
          ),
        },
      });
      for await (const line of lines) {
        if (line.event === "error") throw faultOf(line);
        setProgress(line);
        if (line.event === "done") return line;
      }
      throw new ApiError(0, { code: "unreachable", message: "The connection broke off." });
    },
    onSuccess: (result) => {
      void client.invalidateQueries({ queryKey: ["rows", table.oid] });
      const rejected = result.rejected ?? 0;
      toast({
        title: `${plural(result.rows ?? 0, "row")} imported`,
        ...(rejected > 0 && { description: `${plural(rejected, "line")} rejected.` }),
        tone: "success",
      });
      if (rejected === 0) onClose();
    },
  });
  return (
    <Dialog
      title={<Text>{`Import into ${table.schema}.${table.name}`}</Text>}
      width="wide"
      onClose={onClose}
      footer={
        <>
          {progress !== null && run.isPending && (
            <p role="status" className="mr-auto self-center text-ink-soft">
              {formatNumber(progress.rows ?? 0)} rows, {formatBytes(progress.bytes ?? 0)} of{" "}
              {formatBytes(file?.size ?? 0)}
            </p>
          )}
          <Button size="dense" onClick={onClose}>
            {run.isSuccess ? "Close" : "Cancel"}
          </Button>
          <Button
            size="dense"
            variant="primary"
            disabled={file === null || fault !== null || !preview.isSuccess}
            title={fault ?? undefined}
            pending={run.isPending}
            onClick={() => run.mutate()}
          >
            Import
          </Button>
        </>
      }
    >
      <label
        htmlFor={inputId}
        className="flex flex-wrap items-center justify-center gap-3 rounded-sm border border-line-strong/50 border-dashed p-5 hover:bg-hover has-focus-visible:outline-2 has-focus-visible:outline-accent"
        onDragOver={(event) => event.preventDefault()}
        onDrop={(event) => {
          event.preventDefault();
          setChanged(null);
          setFile(event.dataTransfer.files[0] ?? null);
        }}
      >
        <FileUp aria-hidden="true" className="size-4 text-ink-soft" />
        {file === null ? (
          "Choose a CSV file, or drop one here"
        ) : (
          <span>
            <Text>{file.name}</Text> <span className="text-ink-soft">{formatBytes(file.size)}</span>
          </span>
        )}
        <input
          id={inputId}
          type="file"
          accept=".csv,.tsv,text/csv,text/tab-separated-values"
          className="sr-only"
          onChange={(event) => {
            setChanged(null);
            setFile(event.target.files?.[0] ?? null);
          }}
        />
      </label>
      {preview.isError && (
        <div className="mt-4">
          <ErrorNotice title="The file could not be read" error={preview.error} />
        </div>
      )}
      {file !== null && preview.isSuccess && (
        <>
          <ImportOptions options={options} onChange={change} />
          <MappingTable
            table={table}
            rows={rows}
            hasHeader={options.hasHeader}
            mapping={mapping}
            onMap={(index, name) =>
              setChanged(mapping.map((other, place) => (place === index ? name : other)))
            }
          />
          {fault !== null && (
            <p role="alert" className="mt-2 text-danger">
              <Text>{fault}</Text>
            </p>
          )}
        </>
      )}
      {run.isError && (
        <div className="mt-4">
          <ErrorNotice
            title={placeOf(run.error)}
            error={run.error}
            safe={
              options.onError === "abort"
                ? "All or nothing: no row was imported."
                : "Look at the table before you import again."
            }
          />
        </div>
      )}
      {run.data?.rejects_csv !== undefined && <RejectsLink text={run.data.rejects_csv} />}
    </Dialog>
  );
}

function faultOf(line: ImportEvent): ApiError {
  const body = { code: line.code ?? "invalid", message: line.message ?? "", ...line };
  return new ApiError(422, body);
}

function placeOf(error: unknown): string {
  const { line, column } = (error instanceof ApiError ? error.body : {}) as ImportEvent;
  if (line === undefined) return "The file was not imported";
  return `The fault is in line ${formatNumber(line)}${column === undefined ? "" : `, ${column}`}`;
}

function RejectsLink({ text }: { text: string }) {
  const save = () => {
    const url = URL.createObjectURL(new Blob([text], { type: "text/csv" }));
    const link = document.createElement("a");
    link.href = url;
    link.download = "rejected.csv";
    link.click();
    URL.revokeObjectURL(url);
  };
  return (
    <Button size="dense" className="mt-4" onClick={save}>
      Save the rejected lines
    </Button>
  );
}

interface ImportOptionsProps {
  options: Options;
  onChange: (part: Partial<Options>) => void;
}

function ImportOptions({ options, onChange }: ImportOptionsProps) {
  return (
    <div className="mt-4 grid gap-3 md:grid-cols-4">
      <Field label="Separator">
        {(attributes) => (
          <Select
            {...attributes}
            value={options.delimiter}
            onChange={(event) => onChange({ delimiter: event.target.value })}
          >
            <option value="">found by itself</option>
            <option value=",">comma</option>
            <option value=";">semicolon</option>
            <option value={"\t"}>tab</option>
            <option value="|">bar</option>
          </Select>
        )}
      </Field>
      <Field label="Encoding">
        {(attributes) => (
          <Select
            {...attributes}
            value={options.encoding}
            onChange={(event) => onChange({ encoding: event.target.value })}
          >
            {encodings.map(({ name, title }) => (
              <option key={name} value={name}>
                {title}
              </option>
            ))}
          </Select>
        )}
      </Field>
      <Field label="Null is written" hint={options.nullToken === "" ? "as nothing" : undefined}>
        {(attributes) => (
          <Input
            {...attributes}
            mono
            value={options.nullToken}
            onChange={(event) => onChange({ nullToken: event.target.value })}
          />
        )}
      </Field>
      <Field label="Faulty lines">
        {(attributes) => (
          <Select
            {...attributes}
            value={options.onError}
            onChange={(event) =>
              onChange({ onError: event.target.value === "reject" ? "reject" : "abort" })
            }
          >
            <option value="abort">import nothing</option>
            <option value="reject">leave out, as a file</option>
          </Select>
        )}
      </Field>
      <label className="flex items-center gap-2 md:col-span-4">
        <Checkbox
          checked={options.hasHeader}
          onChange={(event) => onChange({ hasHeader: event.target.checked })}
        />
        The first line has the names of the columns
      </label>
    </div>
  );
}

interface MappingTableProps {
  table: Table;
  rows: string[][];
  hasHeader: boolean;
  mapping: readonly (string | null)[];
  onMap: (index: number, column: string | null) => void;
}

function MappingTable({ table, rows, hasHeader, mapping, onMap }: MappingTableProps) {
  const first = rows[0] ?? [];
  const body = (hasHeader ? rows.slice(1) : rows).slice(0, 5);
  return (
    <section
      aria-label="Columns of the file"
      // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling area must be reachable by keyboard.
      tabIndex={0}
      className="mt-4 overflow-x-auto rounded-sm border border-line"
    >
      <table className="min-w-full border-collapse text-label">
        <thead>
          <tr className="border-line border-b bg-surface align-bottom">
            {first.map((name, index) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: columns of a file have no identity beside their place.
              <th key={index} className="min-w-36 p-2 text-left font-medium">
                <span className="mb-1 block truncate">
                  <Text>{hasHeader ? name : `Column ${index + 1}`}</Text>
                </span>
                <Select
                  aria-label={`Column ${index + 1} of the file goes to`}
                  value={mapping[index] ?? ""}
                  onChange={(event) =>
                    onMap(index, event.target.value === "" ? null : event.target.value)
                  }
                >
                  <option value="">left out</option>
                  {table.columns
                    .filter(({ isGenerated }) => !isGenerated)
                    .map((column) => (
                      <option key={column.name} value={column.name}>
                        {column.name}
                      </option>
                    ))}
                </Select>
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {body.map((row, place) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: lines of a file have no identity beside their place.
            <tr key={place} className="border-line-soft border-b">
              {first.map((_, index) => (
                // biome-ignore lint/suspicious/noArrayIndexKey: columns of a file have no identity beside their place.
                <td key={index} className="max-w-48 truncate p-2 font-mono">
                  <Text>{row[index] ?? ""}</Text>
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}
