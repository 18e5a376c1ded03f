import { Button } from "@ui/button";
import { cn } from "@ui/cn";
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
  const { conflicts } = staging;
  const [choices, setChoices] = useState<Record<string, Choice>>({});
  const choiceOf = (staged: StagedChange, column: string): Choice =>
    choices[`${staged.id}.${column}`] ?? "mine";
  function resolve(): void {
    staging.resolve((before) =>
      conflicts.reduce((changes, { staged, conflict }) => {
        if (conflict.theirs === null) {
          return resolveConflict(changes, staged, conflict, { drop: true });
        }
        const columns = staged.change.kind === "delete" ? [""] : columnsOf(staged);
        const keep = new Set(columns.filter((column) => choiceOf(staged, column) === "mine"));
        return resolveConflict(changes, staged, conflict, { keep });
      }, before),
    );
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
                <Text>{describeTyped(staging.changes.find(({ id }) => id === staged.id))}</Text>
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

/** What is staged by now, which may be more than what was sent. */
function describeTyped(staged: StagedChange | undefined): string {
  if (staged?.change.kind !== "update") return "";
  const cells = Object.entries(staged.change.values).map(
    ([column, cell]) => `${column}: ${describeStagedCell(cell)}`,
  );
  return ` You had typed ${cells.join(", ")}`;
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
    <div className="text-label">
      <div
        aria-hidden="true"
        className={cn("border-line border-b py-1 text-ink-soft max-md:hidden", fieldGrid)}
      >
        <span>Column</span>
        <span>When read</span>
        <span>Theirs</span>
        <span>Mine</span>
      </div>
      {columnsOf(staged).map((column) => (
        <fieldset key={column} className="border-line-soft not-last:border-b py-1.5">
          <legend className="sr-only">
            <Text>{column}</Text>
          </legend>
          <div className={fieldGrid}>
            <span aria-hidden="true" className="break-words py-0.5 font-medium">
              <Text>{column}</Text>
            </span>
            <span className={cn("py-0.5 text-ink-soft", valueClasses)}>
              <span className="font-sans md:sr-only">When read: </span>
              <Text>{describeValue(conflict.base[column] ?? null)}</Text>
            </span>
            {(["theirs", "mine"] as const).map((choice) => (
              <label
                key={choice}
                className="-mx-1 flex min-w-0 items-start gap-2 rounded-sm px-1 py-0.5 has-checked:bg-selected max-md:py-3"
              >
                <input
                  type="radio"
                  name={`${staged.id}.${column}`}
                  className="mt-0.5 shrink-0 accent-accent"
                  checked={choiceOf(column) === choice}
                  onChange={() => onChoose(column, choice)}
                />
                <span className={cn("min-w-0", valueClasses)}>
                  <span className="font-sans md:sr-only">
                    {choice === "theirs" ? "Theirs: " : "Mine: "}
                  </span>
                  <Text>
                    {choice === "theirs"
                      ? describeValue(theirs[column] ?? null)
                      : describeMine(change, column)}
                  </Text>
                </span>
              </label>
            ))}
          </div>
        </fieldset>
      ))}
    </div>
  );
}

/** Phones show the values of a column below each other. */
const fieldGrid = "grid gap-x-4 gap-y-1 md:grid-cols-[9rem_repeat(3,minmax(0,1fr))]";

const valueClasses = "max-h-40 overflow-y-auto break-words font-mono";

function describeMine(change: StagedChange["change"], column: string): string {
  const cell = change.kind === "update" ? change.values[column] : undefined;
  return cell === undefined ? "" : describeStagedCell(cell);
}
