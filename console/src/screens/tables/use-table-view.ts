import { useCallback, useMemo } from "react";
import { readView, type TableView, writeView } from "@/lib/rows/table-view";
import { useSearchParams } from "@/lib/use-search-params";

export type ChangeView = (change: Partial<TableView>, options?: { replace?: boolean }) => void;

/** Filters, sort, hidden columns, subject and opened row of the address, and how to change them. */
export function useTableView(): [TableView, ChangeView] {
  const [parameters, setParameters] = useSearchParams();
  const text = parameters.toString();
  const view = useMemo(() => readView(new URLSearchParams(text)), [text]);
  const change = useCallback<ChangeView>(
    (part, options) => {
      setParameters((before) => writeView({ ...readView(before), ...part }), {
        replace: options?.replace ?? false,
      });
    },
    [setParameters],
  );
  return [view, change];
}
