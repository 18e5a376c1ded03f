import { useQuery } from "@tanstack/react-query";
import { Button } from "@ui/button";
import { IconButton } from "@ui/icon-button";
import { X } from "lucide-react";
import type { Catalog } from "@/api/catalog-model";
import { CodeBlock } from "@/components/code-block";
import { Dialog } from "@/components/dialog";
import { ErrorNotice } from "@/components/error-state";
import { SkeletonRows } from "@/components/skeleton";
import { Text } from "@/components/text";
import { plural } from "@/lib/format";
import { discardOne } from "@/lib/rows/apply";
import { discardCell, type StagedChange } from "@/lib/rows/staged";
import { previewChanges } from "@/lib/rows/types";
import {
  describeChange,
  describeStagedCell,
  describeValue,
} from "@/screens/tables/staged/describe-change";
import type { Staging } from "@/screens/tables/staged/use-staging";

interface StagedReviewProps {
  staging: Staging;
  catalog: Catalog;
  disabledReason: string | undefined;
  onClose: () => void;
}

/** All staged changes with their SQL as the server would run it; each can be discarded or applied alone. */
export function StagedReview({ staging, catalog, disabledReason, onClose }: StagedReviewProps) {
  const { changes, apply, store } = staging;
  const preview = useQuery({
    queryKey: ["staged-preview", changes],
    queryFn: () => previewChanges(changes.map(({ change }) => change)),
    retry: false,
    staleTime: 0,
  });
  return (
    <Dialog
      title={plural(changes.length, "staged change")}
      description="Applied in one transaction: all or nothing."
      width="wide"
      onClose={onClose}
      footer={
        <>
          <Button size="dense" variant="quiet" onClick={staging.discardAll}>
            Discard all
          </Button>
          <Button
            size="dense"
            variant="primary"
            pending={apply.isPending}
            disabled={disabledReason !== undefined}
            title={disabledReason}
            onClick={() => {
              apply.mutate(undefined);
              onClose();
            }}
          >
            Apply all
          </Button>
        </>
      }
    >
      <ul className="grid grid-cols-[minmax(0,1fr)] gap-2">
        {changes.map((staged) => (
          <li key={staged.id} className="rounded-sm border border-line bg-surface">
            <div className="flex items-center gap-2 py-1 pr-1 pl-3">
              <p className="min-w-0 flex-1 truncate font-medium">
                <Text>{describeChange(staged.change, catalog)}</Text>
              </p>
              <Button
                size="dense"
                variant="quiet"
                disabled={disabledReason !== undefined || apply.isPending}
                onClick={() => apply.mutate([staged.id])}
              >
                Apply this
              </Button>
              <IconButton
                size="dense"
                label="Discard this change"
                onClick={() => discardOne(store, staged.id)}
              >
                <X className="size-3.5" />
              </IconButton>
            </div>
            <ChangedCells staging={staging} staged={staged} />
          </li>
        ))}
      </ul>
      <h3 className="mt-4 mb-1.5 font-medium">SQL</h3>
      {preview.isPending && <SkeletonRows rows={3} label="Loading the SQL" />}
      {preview.isError && (
        <ErrorNotice
          title="The SQL could not be shown"
          error={preview.error}
          safe="The changes are still staged."
          onRetry={() => void preview.refetch()}
        />
      )}
      {preview.data !== undefined && (
        <CodeBlock
          label="SQL"
          code={preview.data.statements.map((line) => `${line.replace(/;?\s*$/, "")};`).join("\n")}
        />
      )}
    </Dialog>
  );
}

function ChangedCells({ staging, staged }: { staging: Staging; staged: StagedChange }) {
  const { change, id } = staged;
  if (change.kind === "delete") return null;
  const base = change.kind === "update" ? change.base : {};
  return (
    <dl className="grid grid-cols-[minmax(0,10rem)_minmax(0,1fr)_auto] items-center max-md:grid-cols-[minmax(0,6rem)_minmax(0,1fr)_auto] border-line-soft border-t py-1 pl-3 text-label">
      {Object.entries(change.values).map(([column, cell]) => (
        <div key={column} className="contents">
          <dt className="truncate text-ink-soft">
            <Text>{column}</Text>
          </dt>
          <dd className="truncate font-mono">
            {base[column] !== undefined && (
              <>
                <del className="text-ink-soft">
                  <Text>{describeValue(base[column])}</Text>
                </del>
                {" → "}
              </>
            )}
            <Text>{describeStagedCell(cell)}</Text>
          </dd>
          <dd className="pr-1">
            <IconButton
              size="dense"
              label={`Discard the change of ${column}`}
              onClick={() => staging.store.update((all) => discardCell(all, id, column))}
            >
              <X className="size-3" />
            </IconButton>
          </dd>
        </div>
      ))}
    </dl>
  );
}
