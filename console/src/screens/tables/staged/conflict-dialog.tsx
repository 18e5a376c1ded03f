import { Button } from "@ui/button";
import { useState } from "react";
import type { Catalog } from "@/api/catalog-model";
import { Dialog } from "@/components/dialog";
import { Text } from "@/components/text";
import { resolveConflict, type StagedChange } from "@/lib/rows/staged";
import type { Conflict } from "@/lib/rows/types";
import {
  describeChange,
  describeStagedCell,
  describeValue,
} from "@/screens/tables/staged/describe-change";
import type { Staging } from "@/screens/tables/staged/use-staging";

type Choice = "mine" | "theirs";

/** The columns that both have changed, or that this change would overwrite. */
function columnsOf({ change }: StagedChange): string[] {
  return change.kind === "update" ? Object.keys(change.values) : [];
}

/**
 * Resolves conflicts with rows that another person changed after they were read: for each field mine or theirs, so that
 * nothing is overwritten silently.
 */
export function ConflictDialog({ staging, catalog }: { staging: Staging; catalog: Catalog }) {
  const { conflicts, store, apply } = staging;
  const [choices, setChoices] = useState<Record<string, Choice>>({});
  const choiceOf = (staged: StagedChange, column: string): Choice =>
    choices[`${staged.id}.${column}`] ?? "mine";
  function resolve(): void {
    store.update((before) =>
      conflicts.reduce((changes, { staged, conflict }) => {
        if (conflict.theirs === null) {
          return resolveConflict(changes, staged.id, conflict, { drop: true });
        }
        const columns = staged.change.kind === "delete" ? [""] : columnsOf(staged);
        const keep = new Set(columns.filter((column) => choiceOf(staged, column) === "mine"));
        return resolveConflict(changes, staged.id, conflict, { keep });
      }, before),
    );
    staging.closeConflicts();
    if (store.current().length > 0) apply.mutate(undefined);
  }
  return (
    <Dialog
      title="Somebody else has changed these rows"
      description="Nothing was applied yet. Choose what stays; your other changes wait."
      width="wide"
      onClose={staging.closeConflicts}
      footer={
        <>
          <Button size="dense" onClick={staging.closeConflicts}>
            Decide later
          </Button>
          <Button size="dense" variant="primary" onClick={resolve}>
            Apply with these choices
          </Button>
        </>
      }
    >
      <div className="grid gap-4">
        {conflicts.map(({ staged, conflict }) => (
          <section key={staged.id}>
            <h3 className="mb-1.5 font-medium">
              <Text>{describeChange(staged.change, catalog)}</Text>
            </h3>
            {conflict.theirs === null ? (
              <p className="text-ink-soft">
                The row is gone, so this change can only be discarded.
              </p>
            ) : (
              <ConflictTable
                staged={staged}
                conflict={conflict}
                choiceOf={(column) => choiceOf(staged, column)}
                onChoose={(column, choice) =>
                  setChoices((before) => ({ ...before, [`${staged.id}.${column}`]: choice }))
                }
              />
            )}
          </section>
        ))}
      </div>
    </Dialog>
  );
}

interface ConflictTableProps {
  staged: StagedChange;
  conflict: Conflict;
  choiceOf: (column: string) => Choice;
  onChoose: (column: string, choice: Choice) => void;
}

function ConflictTable({ staged, conflict, choiceOf, onChoose }: ConflictTableProps) {
  const { change } = staged;
  const theirs = conflict.theirs ?? {};
  if (change.kind === "delete") {
    return (
      <fieldset className="grid gap-1">
        <legend className="sr-only">What happens to the row</legend>
        {(["mine", "theirs"] as const).map((choice) => (
          <label key={choice} className="flex items-center gap-2">
            <input
              type="radio"
              name={staged.id}
              checked={choiceOf("") === choice}
              onChange={() => onChoose("", choice)}
            />
            {choice === "mine" ? "Delete it all the same" : "Keep it as it is now"}
          </label>
        ))}
      </fieldset>
    );
  }
  return (
    <div className="overflow-x-auto">
      <table className="w-full min-w-lg border-collapse text-label">
        <thead>
          <tr className="border-line border-b text-left text-ink-soft">
            <th className="py-1 pr-3 font-medium">Column</th>
            <th className="py-1 pr-3 font-medium">When read</th>
            <th className="py-1 pr-3 font-medium">Theirs</th>
            <th className="py-1 font-medium">Mine</th>
          </tr>
        </thead>
        <tbody>
          {columnsOf(staged).map((column) => (
            <tr key={column} className="border-line-soft border-b align-top">
              <th className="py-1.5 pr-3 text-left font-medium">
                <Text>{column}</Text>
              </th>
              <td className="max-w-48 break-words py-1.5 pr-3 font-mono text-ink-soft">
                <Text>{describeValue(conflict.base[column] ?? null)}</Text>
              </td>
              {(["theirs", "mine"] as const).map((choice) => (
                <td key={choice} className="max-w-48 py-1.5 pr-3">
                  <label className="flex items-start gap-2">
                    <input
                      type="radio"
                      name={`${staged.id}.${column}`}
                      className="mt-1"
                      checked={choiceOf(column) === choice}
                      onChange={() => onChoose(column, choice)}
                    />
                    <span className="min-w-0 break-words font-mono">
                      <span className="sr-only">{choice} </span>
                      <Text>
                        {choice === "theirs"
                          ? describeValue(theirs[column] ?? null)
                          : change.kind === "update" && change.values[column] !== undefined
                            ? describeStagedCell(change.values[column])
                            : ""}
                      </Text>
                    </span>
                  </label>
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
