import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import type { Table } from "@/api/catalog-model";
import type { Subject } from "@/api/subject";
import { formatNumber } from "@/lib/format";
import { countRows, type Filter } from "@/lib/rows/types";

interface RowCountProps {
  table: Table;
  filters: Filter[];
  subject: Subject;
}

/** Counts the rows beside the grid, which never waits for it. An estimate is marked "≈"; pressing it counts exactly. */
export function useRowCount({ table, filters, subject }: RowCountProps, exact: boolean) {
  return useQuery({
    queryKey: ["rows", table.oid, "count", filters, subject, exact],
    queryFn: ({ signal }) =>
      countRows(
        {
          table: table.oid,
          filters,
          exact,
          ...(subject.kind !== "admin" && { subject }),
        },
        signal,
      ),
    staleTime: 10_000,
  });
}

export function RowCount({ table, filters, subject }: RowCountProps) {
  const [wanted, setWanted] = useState("");
  const shown = JSON.stringify([table.oid, filters, subject]);
  const isExact = wanted === shown;
  const { data, isFetching, isError } = useRowCount({ table, filters, subject }, isExact);
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
