import { Button } from "@ui/button";
import { FileUp } from "lucide-react";
import { type ReactNode, useRef, useState } from "react";
import { Progress } from "@/components/ui/progress";
import {
  type ImportResult,
  type ImportTarget,
  importColumns,
  importRows,
  requiredColumns,
} from "@/lib/admin-import";
import {
  type CsvFile,
  type CsvRow,
  decodeCsv,
  hasIds,
  idColumn,
  identifyRows,
  parseCsv,
  writeCsv,
} from "@/lib/csv";
import { messageOf } from "@/lib/service-error";
import { toast } from "@/lib/toast";
import { useAdminChange } from "@/lib/use-admin-change";
import { EditDialog } from "./edit-dialog";
import { fileButtonClass } from "./file-button-class";
import { ImportReport, presentText } from "./import-report";

/** Rows of the file that are shown before the import. */
const previewed = 5;
/** Places of rows that are named. */
const shownPlaces = 10;

/** A file whose rows have ids: their own, if it was exported. */
interface ChosenFile extends CsvFile {
  isExported: boolean;
}

interface CsvImportProps {
  target: ImportTarget;
  /** A plural noun for the imported rows. */
  noun: string;
}

/** The button "Import CSV" with its panel. */
export function CsvImport(props: CsvImportProps) {
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <Button className={fileButtonClass} onClick={() => setOpen(true)}>
        <FileUp aria-hidden="true" className="size-4" strokeWidth={1.7} />
        <span className="max-sm:sr-only">Import CSV</span>
      </Button>
      {isOpen && <ImportPanel {...props} onClose={() => setOpen(false)} />}
    </>
  );
}

function ImportPanel({ target, noun, onClose }: CsvImportProps & { onClose: () => void }) {
  const [file, setFile] = useState<ChosenFile | null>(null);
  const [doubt, setDoubt] = useState<string | null>(null);
  const [done, setDone] = useState(0);
  const [result, setResult] = useState<ImportResult | null>(null);
  const input = useRef<HTMLInputElement>(null);
  /** Number of the file that was chosen last. */
  const latestChoice = useRef(0);
  const stop = useRef<AbortController>(null);
  const run = useAdminChange({
    change: (chosen: readonly CsvRow[]) =>
      importRows(target, chosen, setDone, stop.current?.signal),
    failure: "Import failed",
    failureText: (error) => messageOf(error, "CSV import failed"),
  });

  /** Reads a file unless another one is chosen meanwhile. */
  async function read(chosen: File) {
    latestChoice.current += 1;
    const choice = latestChoice.current;
    // The file before is not to be imported any more, also while this one is read, and when it cannot be.
    setResult(null);
    setFile(null);
    const bytes = new Uint8Array(await chosen.arrayBuffer());
    if (choice !== latestChoice.current) return;
    const decoded = decodeCsv(bytes);
    const found = parseCsv(decoded.text, requiredColumns[target]);
    if (found.missing.length > 0) {
      const needed = `The file has no column ${found.missing.join(", ")}.`;
      const present = found.columns.join(", ");
      toast("Import failed", `${needed} Its first line names: ${present || "nothing"}.`, "danger");
    } else if (found.rows.length === 0) {
      const [place] = found.surplus;
      const why =
        place === undefined
          ? "The file has no rows."
          : `Its rows have more cells than its first line, as row ${place}.`;
      toast("Import failed", why, "danger");
    } else {
      const rows = await identifyRows(found.rows, importColumns[target]);
      if (choice !== latestChoice.current) return;
      setFile({ ...found, rows, isExported: hasIds(found.rows) });
      setDoubt(decoded.doubt);
    }
  }

  function start({ rows, places }: CsvFile) {
    setDone(0);
    stop.current = new AbortController();
    run.mutate(rows, {
      onSuccess: (finished) => {
        const numbered = <Row extends { number: number }>(row: Row): Row => ({
          ...row,
          number: places[row.number - 1] ?? row.number,
        });
        setResult({
          ...finished,
          refused: finished.refused.map(numbered),
          present: finished.present.map(numbered),
        });
        setFile(null);
        if (finished.failure !== null) {
          toast("Import failed", finished.failure, "danger");
        } else if (finished.imported > 0) {
          toast(
            "Import successful",
            finished.imported === 1 ? "1 row imported" : `${finished.imported} rows imported`,
            "success",
          );
        } else if (finished.present.length > 0) {
          toast("Nothing to import", presentText(finished.present.length));
        } else {
          toast("Import failed", "No row was imported.", "danger");
        }
      },
    });
  }

  return (
    <EditDialog
      title={`Import ${noun}`}
      isDirty={run.isPending}
      question={{
        title: "Stop the import?",
        text: `${done} of ${file?.rows.length ?? 0} rows have been sent, and stay. The rest is not imported.`,
        action: "Stop",
      }}
      wide
      onClose={() => {
        stop.current?.abort();
        onClose();
      }}
    >
      <p className="text-ink-soft text-small">
        The first line names the columns: <code>{importColumns[target].join(",")}</code>. Cells with
        commas, quotes or line breaks are quoted. Rows are added: one with the{" "}
        <code>{idColumn}</code> of a row that is there, as in an exported file, changes nothing.
        {target === "items" && " Subcategories are not part of the file."}
      </p>
      <div className="mt-4 flex flex-wrap gap-2">
        <input
          ref={input}
          type="file"
          accept=".csv,text/csv"
          aria-label="CSV file"
          className="sr-only"
          tabIndex={-1}
          onChange={(event) => {
            const chosen = event.target.files?.[0];
            // Lets the same file be chosen again after it was corrected.
            event.target.value = "";
            if (chosen === undefined) return;
            read(chosen).catch(() =>
              toast(
                "The file could not be read",
                "Was it moved, deleted, or is it still being downloaded?",
                "danger",
              ),
            );
          }}
        />
        <Button disabled={run.isPending} onClick={() => input.current?.click()}>
          Choose a file
        </Button>
        <Button variant="quiet" asChild>
          <a
            href={`data:text/csv;charset=utf-8,${encodeURIComponent(writeCsv(importColumns[target], []))}`}
            download={`${target}.csv`}
          >
            Download the template
          </a>
        </Button>
      </div>
      {file !== null && (
        <>
          {doubt !== null && (
            <p role="status" className="mt-4 border-line border-l-2 pl-3 text-small">
              {doubt}
            </p>
          )}
          <Omissions columns={importColumns[target]} file={file} />
          <Preview columns={importColumns[target]} rows={file.rows} />
          {run.isPending && (
            <div className="mt-4">
              <Progress label="Imported rows" value={done / file.rows.length} />
            </div>
          )}
          <div className="mt-4 flex justify-end">
            <Button variant="primary" pending={run.isPending} onClick={() => start(file)}>
              Import {file.rows.length} {file.rows.length === 1 ? "row" : "rows"}
            </Button>
          </div>
        </>
      )}
      {result !== null && <ImportReport result={result} />}
    </EditDialog>
  );
}

/** Places of rows that have the id of a row before them, as copies of a line have. */
function repeatedPlaces({ rows, places }: CsvFile): number[] {
  const seen = new Set<string | undefined>();
  return places.filter((_, index) => {
    const id = rows[index]?.[idColumn];
    const isRepeated = seen.has(id);
    seen.add(id);
    return isRepeated;
  });
}

interface OmissionsProps {
  columns: readonly string[];
  file: ChosenFile;
}

/** Places of rows in a few words: "row 2, 5 and 7 more". */
function namePlaces(places: readonly number[]): string {
  const more = places.length - shownPlaces;
  return `row ${places.slice(0, shownPlaces).join(", ")}${more > 0 ? ` and ${more} more` : ""}`;
}

/** What of the file is not imported, or may be read wrongly. */
function Omissions({ columns, file }: OmissionsProps) {
  const { untitled, surplus, short, openQuote } = file;
  const known = file.isExported ? [...columns, idColumn] : columns;
  const unknown = file.columns.filter((name) => !known.includes(name));
  const repeated = repeatedPlaces(file);
  const lines = [
    unknown.length > 0 && `Not imported, because they have other names: ${unknown.join(", ")}.`,
    untitled.length > 0 &&
      `Not imported, because the first line does not name it: column ${untitled.join(", ")}.`,
    surplus.length > 0 &&
      `Not imported, because they have more cells than the first line: ${namePlaces(surplus)}. A cell with a comma has to be quoted.`,
    short.length > 0 &&
      `Fewer cells than the first line, the rest is imported as empty: ${namePlaces(short)}. A cell with a line break has to be quoted.`,
    repeated.length > 0 &&
      `Not added, because a row before has the same id: ${namePlaces(repeated)}. A new row has none.`,
    openQuote !== null &&
      `A quotation mark in row ${openQuote} is not closed: look whether rows are joined.`,
  ].filter((line) => line !== false);
  if (lines.length === 0) return null;
  return (
    <div role="status" className="mt-4 border-line border-l-2 pl-3 text-small">
      {lines.map((line) => (
        <p key={line}>{line}</p>
      ))}
    </div>
  );
}

function Cell({ children }: { children: ReactNode }) {
  return <td className="max-w-40 truncate px-3 py-1.5">{children}</td>;
}

function Preview({ columns, rows }: { columns: readonly string[]; rows: readonly CsvRow[] }) {
  return (
    // Focusable, so that it can be scrolled by keys.
    <section
      aria-label="Rows of the file"
      // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrollable region needs the focus.
      tabIndex={0}
      className="mt-4 overflow-x-auto rounded-md border border-line bg-surface"
    >
      <table aria-label="Preview" className="w-full text-left text-caption">
        <thead>
          <tr className="border-line border-b text-ink-soft">
            {columns.map((name) => (
              <th key={name} scope="col" className="px-3 py-1.5 font-medium">
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.slice(0, previewed).map((row, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: the rows of a file are never moved, and may be alike.
            <tr key={index}>
              {columns.map((name) => (
                <Cell key={name}>{row[name]}</Cell>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}
