import { useQuery } from "@tanstack/react-query";
import { Button } from "@ui/button";
import { keepLineEnds, nameLineEnds } from "@ui/line-ends";
import { useState } from "react";
import type { Column, Table } from "@/api/catalog-model";
import type { Subject } from "@/api/subject";
import { CopyButton } from "@/components/copy-button";
import { Dialog } from "@/components/dialog";
import { ErrorNotice } from "@/components/error-state";
import { Textarea } from "@/components/input";
import { SkeletonRows } from "@/components/skeleton";
import { Text } from "@/components/text";
import { type RowId, readCell } from "@/lib/rows/types";

interface WholeValueProps {
  table: Table;
  row: RowId;
  column: Column;
  /** As whom the rows are viewed. */
  subject: Subject;
  disabledReason: string | undefined;
  onStage: (value: string) => void;
  onClose: () => void;
}

/** A long value in a dialog, because the grid holds only its first 2 kB. */
export function WholeValue({
  table,
  row,
  column,
  subject,
  disabledReason,
  onStage,
  onClose,
}: WholeValueProps) {
  const [typed, setTyped] = useState<string | null>(null);
  const whole = useQuery({
    queryKey: ["rows", table.oid, "cell", row, column.name, subject],
    queryFn: ({ signal }) =>
      readCell({ table: table.oid, row, column: column.name, subject }, signal),
    gcTime: 0,
    // What is read once is what the edit is based on. Whether the row has changed since is checked when the edit is applied.
    staleTime: Number.POSITIVE_INFINITY,
    refetchOnWindowFocus: false,
  });
  const text = typed ?? whole.data ?? "";
  const isChanged = typed !== null && typed !== whole.data;
  const lineEnds = nameLineEnds(text);
  return (
    <Dialog
      title={<Text>{column.name}</Text>}
      description={
        lineEnds === undefined
          ? undefined
          : `The lines end with ${lineEnds}, and still do after an edit.`
      }
      width="wide"
      isDirty={isChanged}
      onClose={onClose}
      footer={
        <>
          {whole.isSuccess && <CopyButton text={text} label="Copy the value" wide />}
          <Button
            size="dense"
            variant="primary"
            disabled={!isChanged || disabledReason !== undefined}
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
      {whole.isSuccess && whole.data === null && (
        <p className="mb-2 text-ink-soft">The value has become NULL meanwhile.</p>
      )}
      {whole.isSuccess && (
        <Textarea
          mono
          aria-label={column.name}
          className="h-[60vh]"
          readOnly={disabledReason !== undefined}
          value={text}
          onChange={(event) => setTyped(keepLineEnds(text, event.target.value))}
        />
      )}
    </Dialog>
  );
}
