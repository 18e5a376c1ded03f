import { useQueryClient } from "@tanstack/react-query";
import { useVirtualizer } from "@tanstack/react-virtual";
import { Button } from "@ui/button";
import { cn } from "@ui/cn";
import { Eye, Layers, LockOpen, Table2 } from "lucide-react";
import { type KeyboardEvent, type MouseEvent, useEffect, useMemo, useRef, useState } from "react";
import { Link, useNavigate } from "react-router";
import { type Catalog, isView, platformSchemas, type Table } from "@/api/catalog-model";
import { Input, Select } from "@/components/input";
import { SkeletonRows } from "@/components/skeleton";
import { Text } from "@/components/text";
import { formatBytes } from "@/lib/format";
import { prefetchRows } from "@/screens/tables/use-row-pages";

export const tablePath = (table: Table): string =>
  `/tables/${encodeURIComponent(table.schema)}/${encodeURIComponent(table.name)}`;

/** Numbers in names count as numbers: part_2 comes before part_10. */
const byName = new Intl.Collator(undefined, { numeric: true });

/** Schemas of the project first, then those of the platform. */
export function sortSchemas(names: readonly string[]): string[] {
  const rank = (name: string) => (name === "public" ? 0 : platformSchemas.has(name) ? 2 : 1);
  return [...names].sort((a, b) => rank(a) - rank(b) || a.localeCompare(b));
}

/** A link, and two pixels to the next one. Links are high enough for fingers on devices without a mouse. */
const rowHeight = window.matchMedia("(pointer: coarse)").matches ? 46 : 34;

interface TableListProps {
  catalog: Catalog | undefined;
  current: Table | undefined;
  schema: string;
  onSchema: (schema: string) => void;
}

/** All tables of a schema with size and row-level security. */
export function TableList({ catalog, current, schema, onSchema }: TableListProps) {
  const [text, setText] = useState("");
  const viewport = useRef<HTMLDivElement>(null);
  const schemas = useMemo(
    () => sortSchemas(catalog?.schemas.map(({ name }) => name) ?? []),
    [catalog],
  );
  const tables = useMemo(() => {
    const wanted = text.toLowerCase();
    return (catalog?.tables ?? [])
      .filter((table) => table.schema === schema && table.name.toLowerCase().includes(wanted))
      .sort((a, b) => byName.compare(a.name, b.name));
  }, [catalog, schema, text]);
  const virtual = useVirtualizer({
    count: tables.length,
    getScrollElement: () => viewport.current,
    estimateSize: () => rowHeight,
    overscan: 10,
    initialRect: { width: 240, height: 800 },
  });
  const openWithRows = useOpenWithRows();
  const currentIndex = tables.findIndex(({ oid }) => oid === current?.oid);
  useEffect(() => {
    if (currentIndex < 0) return;
    virtual.scrollToIndex(currentIndex);
  }, [currentIndex, virtual]);
  if (catalog === undefined) return <SkeletonRows label="Loading the tables" />;
  return (
    <>
      <div className="grid gap-1.5 border-line border-b p-2">
        <Select
          aria-label="Schema"
          value={schema}
          onChange={(event) => onSchema(event.target.value)}
        >
          {schemas.map((name) => (
            <option key={name} value={name}>
              {name}
            </option>
          ))}
        </Select>
        <Input
          type="search"
          data-search
          aria-label="Search tables"
          placeholder="Search tables"
          value={text}
          onChange={(event) => setText(event.target.value)}
          onKeyDown={(event) => {
            if (event.key !== "ArrowDown") return;
            event.preventDefault();
            viewport.current?.querySelector("a")?.focus();
          }}
        />
      </div>
      <div ref={viewport} className="min-h-0 flex-1 overflow-y-auto p-1">
        {tables.length === 0 && (
          <div className="flex flex-col items-center gap-3 px-2 py-6">
            <p className="text-center text-ink-soft">
              {text === "" ? "This schema has no tables yet." : "No table has this name."}
            </p>
            {/* Phones do not show the work area, which has this action, beside the list. */}
            {text === "" && schema === "public" && (
              <Button size="dense" variant="primary" asChild className="md:hidden">
                <Link to="/schema/tables?new=1">Make a table</Link>
              </Button>
            )}
          </div>
        )}
        <ul
          aria-label="Tables"
          className="relative"
          style={{ height: virtual.getTotalSize() }}
          onKeyDown={moveFocus}
        >
          {virtual.getVirtualItems().map(({ index, start }) => {
            const table = tables[index];
            return (
              table !== undefined && (
                <li
                  key={table.oid}
                  className="absolute inset-x-0 top-0 pb-0.5"
                  style={{ transform: `translateY(${start}px)` }}
                >
                  <TableLink
                    table={table}
                    isCurrent={table.oid === current?.oid}
                    onOpen={(event) => {
                      if (table.oid === current?.oid || !opensHere(event)) return;
                      event.preventDefault();
                      openWithRows(table);
                    }}
                  />
                </li>
              )
            );
          })}
        </ul>
      </div>
    </>
  );
}

/** Arrows go from one link of the list to the next. */
function moveFocus(event: KeyboardEvent<HTMLElement>): void {
  if (event.key !== "ArrowDown" && event.key !== "ArrowUp") return;
  event.preventDefault();
  const links = [...event.currentTarget.querySelectorAll("a")].sort(
    (a, b) => a.getBoundingClientRect().top - b.getBoundingClientRect().top,
  );
  const index = links.indexOf(document.activeElement as HTMLAnchorElement);
  links[index + (event.key === "ArrowDown" ? 1 : -1)]?.focus();
}

/** A pointer that only passes over the list reads nothing. */
const restMs = 60;

/** How long a click waits for the table's first rows. */
const patienceMs = 80;

/** Handlers that read a table's first rows when the pointer rests on its link, or presses it. */
function usePrefetch(table: Table) {
  const client = useQueryClient();
  const timer = useRef<number | undefined>(undefined);
  const cancel = () => window.clearTimeout(timer.current);
  useEffect(() => () => window.clearTimeout(timer.current), []);
  const run = () => void prefetchRows(client, table);
  return {
    onPointerEnter: () => {
      timer.current = window.setTimeout(run, restMs);
    },
    onPointerLeave: cancel,
    onPointerDown: run,
  };
}

/**
 * Returns a function that opens a table when its first rows are there, because drawing a placeholder and then the rows takes
 * longer than the rows alone. Rows that take longer than a moment are not waited for. The table that was wanted last is opened.
 */
function useOpenWithRows(): (table: Table) => void {
  const client = useQueryClient();
  const navigate = useNavigate();
  const wanted = useRef<Table | undefined>(undefined);
  useEffect(
    () => () => {
      wanted.current = undefined;
    },
    [],
  );
  return (table) => {
    wanted.current = table;
    const patience = new Promise((wake) => setTimeout(wake, patienceMs));
    void Promise.race([prefetchRows(client, table), patience]).then(() => {
      if (wanted.current === table) void navigate(tablePath(table));
    });
  };
}

/** Whether a click opens the link here, and not in another tab or window. */
const opensHere = (event: MouseEvent): boolean =>
  event.button === 0 && !event.metaKey && !event.ctrlKey && !event.shiftKey && !event.altKey;

interface TableLinkProps {
  table: Table;
  isCurrent: boolean;
  onOpen: (event: MouseEvent) => void;
}

function TableLink({ table, isCurrent, onOpen }: TableLinkProps) {
  const prefetch = usePrefetch(table);
  const Icon = isView(table) ? Eye : table.kind === "p" ? Layers : Table2;
  const isOpen = !table.rls && !isView(table) && table.kind !== "f";
  return (
    <Link
      to={tablePath(table)}
      {...prefetch}
      onClick={onOpen}
      aria-current={isCurrent ? "page" : undefined}
      title={table.comment === null ? table.name : `${table.name}: ${table.comment}`}
      className={cn(
        "flex h-8 items-center gap-2 rounded-sm px-2 outline-offset-[-2px] hover:bg-hover pointer-coarse:h-11",
        isCurrent && "bg-selected font-medium",
      )}
    >
      <Icon aria-hidden="true" className="size-3.5 shrink-0 text-ink-soft" strokeWidth={1.7} />
      <span className="min-w-0 flex-1 truncate">
        <Text>{table.name}</Text>
      </span>
      {isOpen && !platformSchemas.has(table.schema) && (
        // A sign and not a word, because names with the same beginning are told apart by their end.
        <span title="Row-level security is off" className="shrink-0 text-warning">
          <LockOpen aria-hidden="true" className="size-3.5" />
          <span className="sr-only">no row-level security</span>
        </span>
      )}
      {!isView(table) && (
        <span className="shrink-0 text-ink-soft text-micro tabular-nums md:max-lg:hidden">
          {formatBytes(table.bytes)}
        </span>
      )}
    </Link>
  );
}
