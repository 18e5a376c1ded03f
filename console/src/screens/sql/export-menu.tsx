/** Saves or copies the rows of a result. Where values are missing in it, it names them first. */
import { Button } from "@ui/button";
import { Download } from "lucide-react";
import { useState } from "react";
import { ConfirmDialog } from "@/components/confirm-dialog";
import { copyText } from "@/components/copy-button";
import { Menu, MenuHeading, MenuItem, MenuSeparator } from "@/components/menu";
import { Text } from "@/components/text";
import { formatBytes, formatNumber, plural } from "@/lib/format";
import { toast } from "@/lib/toast";
import { download, findMissingParts, toCsv, toJson, toTabSeparated } from "./export-result";
import type { StatementResult } from "./runs/run-model";

interface Export {
  /** What is done, as the button of the question says it. */
  label: string;
  run: () => void;
}

/** Cut values that are listed one by one. */
const listedParts = 20;

export function ExportMenu({ result }: { result: StatementResult }) {
  const [asked, setAsked] = useState<Export | null>(null);
  const missing = findMissingParts(result);
  const isPartial = missing.length > 0 || result.isTruncated;
  const fileName = isPartial ? "result-incomplete" : "result";
  async function copy(text: string): Promise<void> {
    if (await copyText(text)) toast({ title: "Copied", tone: "success" });
  }
  function start(label: string, run: () => void): void {
    if (isPartial) setAsked({ label, run });
    else run();
  }
  return (
    <>
      <Menu
        label="Export"
        trigger={
          <Button size="dense" variant="quiet">
            <Download aria-hidden="true" className="size-3.5" />
            Export
          </Button>
        }
      >
        <MenuHeading>The rows shown here</MenuHeading>
        <MenuItem
          onSelect={() =>
            start("Save as it is", () => download(`${fileName}.csv`, "text/csv", toCsv(result)))
          }
        >
          Save as CSV
        </MenuItem>
        <MenuItem
          onSelect={() =>
            start("Save as it is", () =>
              download(`${fileName}.json`, "application/json", toJson(result)),
            )
          }
        >
          Save as JSON
        </MenuItem>
        <MenuSeparator />
        <MenuItem onSelect={() => start("Copy as it is", () => void copy(toTabSeparated(result)))}>
          Copy for a spreadsheet
        </MenuItem>
        <MenuItem onSelect={() => start("Copy as it is", () => void copy(toJson(result)))}>
          Copy as JSON
        </MenuItem>
      </Menu>
      {asked !== null && (
        <ConfirmDialog
          title="This result is incomplete"
          text="Only what the server has sent can be saved from here. A table is exported whole on the screen Tables."
          confirmLabel={asked.label}
          onConfirm={() => {
            asked.run();
            setAsked(null);
          }}
          onClose={() => setAsked(null)}
        >
          <div className="grid gap-2 text-caption">
            {result.isTruncated && (
              <p>{`The first ${formatNumber(result.rows.length)} rows are here, and no others.`}</p>
            )}
            {missing.length > 0 && (
              <>
                <p>{`Of ${plural(missing.length, "value")} only the beginning is here:`}</p>
                <ul className="max-h-48 overflow-y-auto font-mono text-label">
                  {missing.slice(0, listedParts).map(({ row, column, bytes }) => (
                    <li key={`${row} ${column}`}>
                      row {row}, <Text>{column}</Text> ({formatBytes(bytes)})
                    </li>
                  ))}
                </ul>
                {missing.length > listedParts && (
                  <p className="text-ink-soft">{`and ${missing.length - listedParts} more`}</p>
                )}
              </>
            )}
          </div>
        </ConfirmDialog>
      )}
    </>
  );
}
