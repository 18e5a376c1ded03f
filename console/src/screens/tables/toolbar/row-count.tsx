import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import type { Table } from "@/api/catalog-model";
import { formatNumber } from "@/lib/format";
import { countRows, type Filter } from "@/lib/rows/types";

interface RowCountProps {
  table: Table;
  filters: Filter[];
}

/** Counts the rows beside the grid, which never waits for it. An estimate is marked "≈"; pressing it counts exactly. */
export function useRowCount({ table, filters }: RowCountProps, exact: boolean) {
  return useQuery({
    queryKey: ["rows", table.oid, "count", filters, exact],
    queryFn: ({ signal }) => countRows({ table: table.oid, filters, exact }, signal),
    staleTime: 10_000,
  });
}

export function RowCount({ table, filters }: RowCountProps) {
  const [wanted, setWanted] = useState("");
  const shown = JSON.stringify([table.oid, filters]);
  const isExact = wanted === shown;
  const { data, isFetching, isError } = useRowCount({ table, filters }, isExact);
  if (isError) return <span className="text-ink-soft">count failed</span>;
  if (data === undefined) return <span className="text-ink-soft">counting …</span>;
  const text = `${formatNumber(data.count)} ${data.count === 1 ? "row" : "rows"}`;
  if (data.exact) return <span className="text-ink-soft tabular-nums">{text}</span>;
  return (
    <button
      type="button"
      className="text-ink-soft tabular-nums underline decoration-dotted underline-offset-2 hover:text-ink"
      title="An estimate of the planner. Press to count exactly."
      onClick={() => setWanted(shown)}
    >
      ≈ {text}
      {isFetching && " …"}
    </button>
  );
}
