import { Button } from "@ui/button";
import { Upload } from "lucide-react";
import { useState } from "react";
import type { Table } from "@/api/catalog-model";
import { ToolLabel } from "@/components/tool-label";
import { ImportIntoTable } from "./into-table";

interface ImportButtonProps {
  table: Table;
  /** The reason why rows cannot be inserted; undefined when they can. */
  refusal: string | undefined;
}

/** The button that opens the import dialog. */
export function ImportButton({ table, refusal }: ImportButtonProps) {
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <Button
        size="dense"
        variant="quiet"
        disabled={refusal !== undefined}
        title={refusal ?? "Import"}
        onClick={() => setOpen(true)}
      >
        <Upload aria-hidden="true" className="size-3.5" />
        <ToolLabel>Import</ToolLabel>
      </Button>
      {isOpen && <ImportIntoTable table={table} onClose={() => setOpen(false)} />}
    </>
  );
}
