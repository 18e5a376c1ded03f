import { useQuery } from "@tanstack/react-query";
import { cn } from "@ui/cn";
import { useDeferredValue } from "react";
import type { Catalog, ForeignKey, Table } from "@/api/catalog-model";
import { Text } from "@/components/text";
import { columnKind } from "@/lib/rows/column-kind";
import { type Filter, readRows, type Value } from "@/lib/rows/types";

/** The table and column that a foreign key of one column points to. */
export interface ReferenceTarget {
  table: Table;
  column: string;
  /** Text columns by which a row is found and named. */
  labels: string[];
}

/** Foreign keys of several columns have no single cell to search in, so they get no search. */
export function targetOf(
  foreignKeys: readonly ForeignKey[],
  table: Table,
  column: string,
  catalog: Catalog,
): ReferenceTarget | undefined {
  const key = foreignKeys.find(
    (candidate) =>
      candidate.table === table.oid &&
      candidate.columns.length === 1 &&
      candidate.columns[0] === column,
  );
  const target = key === undefined ? undefined : catalog.tablesByOid.get(key.target);
  const targetColumn = key?.target_columns[0];
  if (target === undefined || targetColumn === undefined) return undefined;
  const labels = target.columns
    .filter((other) => other.name !== targetColumn && columnKind(other, catalog) === "text")
    .map(({ name }) => name);
  // A column with a descriptive name identifies a row better than the first column.
  const telling = /name|title|email|label|slug/i;
  labels.sort((a, b) => Number(telling.test(b)) - Number(telling.test(a)));
  return { table: target, column: targetColumn, labels: labels.slice(0, 2) };
}

interface FoundRow {
  value: Value;
  label: string;
}

async function findRows(
  { table, column, labels }: ReferenceTarget,
  text: string,
  signal: AbortSignal,
): Promise<FoundRow[]> {
  const read = async (filters: Filter[]) => {
    const page = await readRows(
      { table: table.oid, columns: [column, ...labels], filters, sort: [], limit: 8 },
      signal,
    );
    return page.rows.map(
      (row): FoundRow => ({
        value: row[0] ?? null,
        label: row
          .slice(1)
          .filter((cell) => cell !== null)
          .join(" · "),
      }),
    );
  };
  const [label] = labels;
  if (text === "") return read([]);
  // The text may be a name or the key itself, which may not fit the key's type.
  const [byLabel, byKey] = await Promise.all([
    label === undefined
      ? []
      : read([{ column: label, operator: "ilike", value: `%${text.replace(/[\\%_]/g, "\\$&")}%` }]),
    read([{ column, operator: "eq", value: text }]).catch(() => []),
  ]);
  return [...byKey, ...byLabel.filter(({ value }) => byKey.every((row) => row.value !== value))];
}

interface ReferenceSearchProps {
  target: ReferenceTarget;
  text: string;
  onChoose: (value: Value) => void;
}

/** Rows of the target table that match what was typed; choosing one puts its key into the cell. */
export function ReferenceSearch({ target, text, onChoose }: ReferenceSearchProps) {
  const searched = useDeferredValue(text.trim());
  const { data, isPending, isError } = useQuery({
    queryKey: ["reference", target.table.oid, target.column, searched],
    queryFn: ({ signal }) => findRows(target, searched, signal),
    staleTime: 10_000,
  });
  return (
    <div className="border border-line border-t-0 bg-raised">
      <p className="border-line-soft border-b px-2 py-1 text-ink-soft text-label">
        <Text>{`${target.table.schema}.${target.table.name}`}</Text>
        {isPending && " …"}
        {isError && " could not be searched"}
        {data?.length === 0 && ": no row found"}
      </p>
      <ul aria-label="Rows found" className="max-h-56 overflow-y-auto p-1">
        {data?.map(({ value, label }) => (
          <li key={value}>
            <button
              type="button"
              className={cn(
                "flex w-full items-baseline gap-2 rounded-[4px] px-1.5 py-1 text-left hover:bg-hover",
                value === text && "bg-selected",
              )}
              onClick={() => onChoose(value)}
            >
              <span className="min-w-0 flex-1 truncate">
                <Text>{label === "" ? (value ?? "NULL") : label}</Text>
              </span>
              {label !== "" && (
                <span className="max-w-32 truncate font-mono text-ink-soft text-micro">
                  <Text>{value ?? "NULL"}</Text>
                </span>
              )}
            </button>
          </li>
        ))}
      </ul>
    </div>
  );
}
