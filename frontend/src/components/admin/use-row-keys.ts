import { isComposing, keyName } from "@ui/keys";
import { type RefObject, useEffect } from "react";
import { isTyping } from "@/lib/use-shortcut";

/** Letters that lists of other programs have, too. */
const letterKeys: Readonly<Record<string, string>> = { j: "ArrowDown", k: "ArrowUp" };

const openLayers = '[role="dialog"], [role="alertdialog"], [role="menu"]';

/**
 * Moves the focus between the rows of a table: arrow keys, or `j` and `k`, by one row, Home and End to the first and last. While nothing has the
 * focus the arrows begin at the edge; from the search box, arrow down leads to the first row.
 */
export function useRowKeys(body: RefObject<HTMLTableSectionElement | null>): void {
  useEffect(() => {
    function handle(event: KeyboardEvent) {
      if (event.defaultPrevented || event.metaKey || event.ctrlKey || event.altKey) return;
      if (isComposing(event)) return;
      const fromSearch = event.key === "ArrowDown" && isSearchBox(event.target);
      if (!fromSearch && (isTyping(event.target) || !isFree(body.current))) return;
      if (document.querySelector(openLayers) !== null) return;
      const row = findRow(body.current, letterKeys[keyName(event)] ?? event.key);
      if (row === null) return;
      event.preventDefault();
      row.focus();
    }
    document.addEventListener("keydown", handle);
    return () => document.removeEventListener("keydown", handle);
  }, [body]);
}

function isSearchBox(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && target.matches("[data-search-box]");
}

/** Whether the keys belong to the table: the focus is in it, or nowhere in particular. */
function isFree(body: HTMLTableSectionElement | null): boolean {
  const { activeElement } = document;
  return (
    activeElement === null ||
    activeElement === document.body ||
    activeElement.id === "main" ||
    body?.contains(activeElement) === true
  );
}

/** Finds the row to which a key moves; null for another key, or without rows. */
function findRow(body: HTMLTableSectionElement | null, key: string): HTMLElement | null {
  const rows = [...(body?.querySelectorAll<HTMLElement>(":scope > tr[tabindex]") ?? [])];
  const current = rows.findIndex((row) => row.contains(document.activeElement));
  switch (key) {
    case "ArrowDown":
      return rows[Math.min(current + 1, rows.length - 1)] ?? null;
    case "ArrowUp":
      return rows[current === -1 ? rows.length - 1 : Math.max(current - 1, 0)] ?? null;
    case "Home":
      return current === -1 ? null : (rows[0] ?? null);
    case "End":
      return current === -1 ? null : (rows.at(-1) ?? null);
    default:
      return null;
  }
}
