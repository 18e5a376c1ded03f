import type { ImportResult, PresentRow } from "@/lib/admin-import";

/** How many rows an earlier import has made. */
export function presentText(count: number): string {
  return count === 1 ? "1 row is there already" : `${count} rows are there already`;
}

/** Numbers in ascending order, in which neighbours are joined: "2–4, 7". */
export function joinNumbers(numbers: readonly number[]): string {
  const runs: [first: number, last: number][] = [];
  for (const number of numbers) {
    const run = runs.at(-1);
    if (run !== undefined && run[1] === number - 1) run[1] = number;
    else runs.push([number, number]);
  }
  return runs.map(([first, last]) => (first === last ? first : `${first}–${last}`)).join(", ");
}

/** What became of the rows of a file: how many were imported, and which ones were refused or are there already. */
export function ImportReport({ result }: { result: ImportResult }) {
  const { imported, present, refused, left, failure } = result;
  return (
    <div role="status" className="mt-5 text-small">
      <p className="font-medium">
        {imported} imported, {refused.length} refused
        {present.length > 0 && `, ${presentText(present.length)}`}
      </p>
      {failure !== null && (
        <p className="mt-1 text-danger">
          The last {left} were not imported, or it is not known: {failure} Choose the file again,
          corrected where rows were refused: those that are there are not made twice.
        </p>
      )}
      <ul className="mt-2 max-h-80 overflow-y-auto text-ink-soft">
        {refused.map(({ number, name, reason }) => (
          <li key={number} className={lineClass}>
            Row {number}
            {name !== "" && ` (${name})`}: {reason}
          </li>
        ))}
        <PresentRows rows={present} />
      </ul>
    </div>
  );
}

const lineClass = "border-line border-t py-1 [overflow-wrap:anywhere]";

/** Rows that are there: those with another name one by one, because nobody would look for them under it. */
function PresentRows({ rows }: { rows: readonly PresentRow[] }) {
  const same = rows.filter(({ renamed }) => renamed === null);
  return (
    <>
      {rows.map(
        ({ number, name, renamed }) =>
          renamed !== null && (
            <li key={number} className={lineClass}>
              Row {number} ({name}): there already under the name {renamed}, and unchanged
            </li>
          ),
      )}
      {same.length > 0 && (
        <li className={lineClass}>
          {same.length === 1 ? "Row" : "Rows"} {joinNumbers(same.map(({ number }) => number))}:
          there already under the same name, and unchanged
        </li>
      )}
    </>
  );
}
