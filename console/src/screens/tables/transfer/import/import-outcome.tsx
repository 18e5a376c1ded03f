import { Button } from "@ui/button";
import { CircleCheck, Download } from "lucide-react";
import { ErrorNotice } from "@/components/error-state";
import { ProgressBar } from "@/components/progress-bar";
import { Text } from "@/components/text";
import { formatBytes, formatNumber, plural } from "@/lib/format";
import { type ImportResult, placeOfFault, type Reject, writeRejects } from "./import-file";
import type { Mapping } from "./mapping";
import type { ImportState } from "./use-import";

const shownRejects = 20;

interface ImportOutcomeProps {
  state: ImportState;
  file: File;
  mapping: Mapping;
  table: string;
}

/** The progress of an import, its result, or its error. */
export function ImportOutcome({ state, file, mapping, table }: ImportOutcomeProps) {
  switch (state.step) {
    case "idle":
      return null;
    case "running":
      return <Progress sent={state.sent} size={file.size} />;
    case "done":
      return <Done result={state.result} file={file} mapping={mapping} table={table} />;
    case "failed": {
      const place = placeOfFault(state.error);
      return (
        <ErrorNotice
          title={place === null ? "The file was not imported" : `A fault in ${place} of the file`}
          error={state.error}
          safe={
            place === null
              ? "No row of the file is in the table."
              : "No row of the file is in the table. Mend the file and choose it again, or leave faulty rows out."
          }
        />
      );
    }
  }
}

function Progress({ sent, size }: { sent: number; size: number }) {
  const isSent = sent >= size;
  return (
    <div role="status" className="text-caption">
      <p>
        {isSent
          ? "The file has been sent; PostgreSQL writes its last rows."
          : `${formatBytes(sent)} of ${formatBytes(size)} sent`}
      </p>
      <ProgressBar label="Upload of the file" value={isSent ? null : sent / Math.max(1, size)} />
    </div>
  );
}

interface DoneProps {
  result: ImportResult;
  file: File;
  mapping: Mapping;
  table: string;
}

function Done({ result, file, mapping, table }: DoneProps) {
  const rejects = result.rejects ?? [];
  return (
    <div className="grid gap-3 text-caption">
      <p role="status" className="flex items-center gap-2 font-medium">
        <CircleCheck aria-hidden="true" className="size-4 shrink-0 text-success" />
        <span>
          {plural(result.rows, "row")} imported into <Text>{table}</Text>
          {rejects.length > 0 && `; ${plural(rejects.length, "row")} left out`}.
        </span>
      </p>
      {rejects.length > 0 && <Rejects rejects={rejects} file={file} mapping={mapping} />}
    </div>
  );
}

interface RejectsProps {
  rejects: readonly Reject[];
  file: File;
  mapping: Mapping;
}

function Rejects({ rejects, file, mapping }: RejectsProps) {
  function download(): void {
    const blob = new Blob([writeRejects(rejects, mapping)], { type: "text/csv" });
    const link = document.createElement("a");
    link.href = URL.createObjectURL(blob);
    link.download = `${file.name.replace(/\.[^.]*$/, "")}-rejects.csv`;
    link.click();
    // Revoked later, because the browser reads the file after the click.
    window.setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
  }
  return (
    <>
      <div className="max-h-64 overflow-auto rounded-sm border border-line">
        <table className="w-full text-left">
          <thead>
            <tr className="border-line border-b bg-canvas text-label text-ink-soft">
              <th className="px-2.5 py-1.5 font-medium">Line</th>
              <th className="px-2.5 py-1.5 font-medium">Why it was left out</th>
            </tr>
          </thead>
          <tbody className="divide-y divide-line-soft">
            {rejects.slice(0, shownRejects).map(({ line, message }) => (
              <tr key={line}>
                <td className="px-2.5 py-1 tabular-nums">{formatNumber(line)}</td>
                <td className="break-words px-2.5 py-1">
                  <Text>{message}</Text>
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      <p className="flex flex-wrap items-center gap-3">
        <Button size="dense" onClick={download}>
          <Download aria-hidden="true" className="size-3.5" />
          Download the rows that were left out
        </Button>
        {rejects.length > shownRejects && (
          <span className="text-ink-soft">The first {shownRejects} are shown.</span>
        )}
      </p>
    </>
  );
}
