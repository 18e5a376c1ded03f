import { Button } from "@ui/button";
import { useEffect, useState } from "react";
import type { Catalog } from "@/api/catalog-model";
import { ErrorNotice } from "@/components/error-state";
import { Kbd } from "@/components/kbd";
import { plural } from "@/lib/format";
import { useShortcut } from "@/lib/shortcuts";
import { ConflictDialog } from "@/screens/tables/staged/conflict-dialog";
import { StagedReview } from "@/screens/tables/staged/staged-review";
import type { Staging } from "@/screens/tables/staged/use-staging";

interface StagedBarProps {
  staging: Staging;
  catalog: Catalog;
  /** Why nothing may be applied, or undefined. */
  disabledReason: string | undefined;
}

/** The bar at the lower edge while changes are staged: how many, review, discard, apply. */
export function StagedBar({ staging, catalog, disabledReason }: StagedBarProps) {
  const { changes, apply, store, refusal } = staging;
  const [isReviewed, setReviewed] = useState(false);
  const isEmpty = changes.length === 0;
  const canApply = !isEmpty && !apply.isPending && disabledReason === undefined;
  useShortcut(
    {
      keys: "mod+enter",
      label: "Apply the staged changes",
      group: "Table editor",
      run: () => apply.mutate(undefined),
    },
    canApply,
  );
  useShortcut({
    keys: "mod+z",
    label: "Undo the last change",
    group: "Table editor",
    run: staging.undo,
  });
  useEffect(() => {
    if (isEmpty) setReviewed(false);
  }, [isEmpty]);
  if (isEmpty) return null;
  const tables = new Set(changes.map(({ change }) => change.table)).size;
  const failure = refusal?.error ?? apply.error;
  return (
    <section
      aria-label="Staged changes"
      className="shrink-0 border-line border-t bg-raised shadow-raised"
    >
      {failure !== null && (
        <div className="p-2 pb-0">
          <ErrorNotice
            title={
              refusal === null
                ? "It is unknown whether the changes were applied"
                : "Nothing was applied"
            }
            error={failure}
            safe={
              refusal === null
                ? "All changes are still staged. Apply again: what has been applied is not applied twice."
                : `All or nothing: every change is still staged.${
                    refusal.column === undefined ? "" : ` The fault is in ${refusal.column}.`
                  }`
            }
            onRetry={refusal === null ? staging.retry : undefined}
          />
        </div>
      )}
      <div className="flex min-h-11 flex-wrap items-center gap-2 px-3 py-1.5">
        <p role="status" className="mr-auto">
          <span className="font-medium">{plural(changes.length, "staged change")}</span>
          <span className="text-ink-soft">
            {tables > 1 && ` in ${tables} tables`}
            {store.isVolatile() && " · not kept: this browser's storage is full or forbidden"}
          </span>
        </p>
        <Button size="dense" variant="quiet" onClick={staging.discardAll}>
          Discard all
        </Button>
        <Button size="dense" onClick={() => setReviewed(true)}>
          Review
        </Button>
        <Button
          size="dense"
          variant="primary"
          pending={apply.isPending}
          disabled={disabledReason !== undefined}
          title={disabledReason}
          onClick={() => apply.mutate(undefined)}
        >
          Apply
          <span
            aria-hidden="true"
            className="max-md:hidden [&_*]:border-current/40 [&_*]:bg-transparent [&_*]:text-current"
          >
            <Kbd keys="mod+enter" />
          </span>
        </Button>
      </div>
      {isReviewed && (
        <StagedReview
          staging={staging}
          catalog={catalog}
          disabledReason={disabledReason}
          onClose={() => setReviewed(false)}
        />
      )}
      {staging.conflicts.length > 0 && <ConflictDialog staging={staging} catalog={catalog} />}
    </section>
  );
}
