import { useQuery } from "@tanstack/react-query";
import { useCallback, useEffect, useState } from "react";
import { adminRowQuery } from "@/lib/admin-list";
import { isUuid } from "@/lib/patterns";
import { messageOf } from "@/lib/service-error";
import { toast } from "@/lib/toast";
import type { AdminTable } from "@/lib/use-admin-table";

export interface OpenRow<Row> {
  /** The open row as it was when it was opened; null when none is, or while it is loaded. */
  row: Row | null;
  /** Whether the form of a new row is open. */
  isNew: boolean;
  open: (row: Row) => void;
  openNew: () => void;
  close: () => void;
}

/** Address of the form of a new row, in place of an id. */
const newRow = "new";

/**
 * The row that is open in a panel. It is named by the address (`?row=<id>`), so a link leads to it. The panel keeps the version that
 * it was opened with: an administrator decides about what was read, and lists are read again in the background.
 */
export function useOpenRow<Row extends { id: string }>(
  table: AdminTable<Row>,
  noun: string,
): OpenRow<Row> {
  const { openId, setOpenId, section, read } = table;
  const [shown, setShown] = useState<Row | null>(null);
  const isNew = openId === newRow;
  const wanted = openId === null || isNew || shown?.id === openId ? null : openId;
  const found = useQuery({
    ...adminRowQuery(section, wanted ?? "", read),
    enabled: wanted !== null && isUuid(wanted),
    gcTime: 0,
  });
  if (wanted !== null && found.data?.id === wanted) setShown(found.data);

  const isMissing = wanted !== null && (!isUuid(wanted) || found.data === null);
  const failure = wanted !== null && found.isError ? found.error : null;
  useEffect(() => {
    if (!isMissing && failure === null) return;
    const text = isMissing
      ? `The link leads to ${/^[aeiou]/i.test(noun) ? "an" : "a"} ${noun.toLowerCase()} that does not exist any more.`
      : messageOf(failure, "Please try again.");
    toast("Error", text, "danger");
    setOpenId(null);
  }, [isMissing, failure, noun, setOpenId]);

  // Opened once more, the row is read anew.
  useEffect(() => {
    if (openId === null) setShown(null);
  }, [openId]);

  return {
    row: shown !== null && shown.id === openId ? shown : null,
    isNew,
    open: useCallback(
      (row: Row) => {
        setShown(row);
        setOpenId(row.id);
      },
      [setOpenId],
    ),
    openNew: useCallback(() => setOpenId(newRow), [setOpenId]),
    close: useCallback(() => setOpenId(null), [setOpenId]),
  };
}
