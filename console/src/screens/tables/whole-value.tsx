import { useQuery } from "@tanstack/react-query";
import { Button } from "@ui/button";
import { useState } from "react";
import type { Column, Table } from "@/api/catalog-model";
import { send } from "@/api/client";
import { CopyButton } from "@/components/copy-button";
import { Dialog } from "@/components/dialog";
import { ErrorNotice } from "@/components/error-state";
import { Textarea } from "@/components/input";
import { SkeletonRows } from "@/components/skeleton";
import { Text } from "@/components/text";
import type { RowId } from "@/lib/rows/types";

interface WholeValueProps {
  table: Table;
  row: RowId;
  column: Column;
  disabledReason: string | undefined;
  onStage: (value: string) => void;
  onClose: () => void;
}

/** A long value in a dialog, because the grid holds only its first 2 kB. */
export function WholeValue({
  table,
  row,
  column,
  disabledReason,
  onStage,
  onClose,
}: WholeValueProps) {
  const [typed, setTyped] = useState<string | null>(null);
  const whole = useQuery({
    queryKey: ["rows", table.oid, "cell", row, column.name],
    queryFn: async ({ signal }) => {
      const body = { table: table.oid, row, column: column.name };
      return (await send("/api/rows/cell", { json: body, signal })).text();
    },
    gcTime: 0,
  });
  const text = typed ?? whole.data ?? "";
  return (
    <Dialog
      title={<Text>{column.name}</Text>}
      width="wide"
      onClose={onClose}
      footer={
        <>
          {whole.isSuccess && <CopyButton text={text} label="Copy the value" wide />}
          <Button
            size="dense"
            variant="primary"
            disabled={typed === null || typed === whole.data || disabledReason !== undefined}
            title={disabledReason}
            onClick={() => onStage(text)}
          >
            Stage
          </Button>
        </>
      }
    >
      {whole.isPending && <SkeletonRows label="Loading the value" />}
      {whole.isError && (
        <ErrorNotice
          title="The value could not be read"
          error={whole.error}
          onRetry={() => void whole.refetch()}
        />
      )}
      {whole.isSuccess && (
        <Textarea
          mono
          aria-label={column.name}
          className="h-[60vh]"
          readOnly={disabledReason !== undefined}
          value={text}
          onChange={(event) => setTyped(event.target.value)}
        />
      )}
    </Dialog>
  );
}
