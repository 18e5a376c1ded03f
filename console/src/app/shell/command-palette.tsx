import { Command } from "cmdk";
import { Table2 } from "lucide-react";
import { Dialog as RadixDialog } from "radix-ui";
import { useEffect, useMemo, useState } from "react";
import { useNavigate } from "react-router";
import { useCatalog } from "@/api/catalog";
import { platformSchemas, type Table } from "@/api/catalog-model";
import { screens } from "@/app/screens";
import {
  type PaletteItem,
  type PaletteSource,
  usePaletteSources,
} from "@/app/shell/palette-sources";
import { Kbd } from "@/components/kbd";
import { Text } from "@/components/text";

interface Group {
  name: string;
  items: readonly PaletteItem[];
}

/** More lines of a kind would bury the others, and typing another letter finds them. */
const shownPerGroup = 12;

/** Whether every word of the search begins a word of the line, or is somewhere in its title. */
export function isMatch(item: PaletteItem, text: string): boolean {
  const title = `${item.detail ?? ""} ${item.title}`.toLowerCase();
  const words = `${title} ${item.words ?? ""}`.toLowerCase().split(/[\s._-]+/);
  return text
    .toLowerCase()
    .split(/\s+/)
    .filter((part) => part !== "")
    .every((part) => title.includes(part) || words.some((word) => word.startsWith(part)));
}

const screenItems: readonly PaletteItem[] = screens.map((screen) => ({
  id: `screen:${screen.path}`,
  title: screen.name,
  icon: screen.icon,
  words: screen.words,
  to: `/${screen.path}`,
}));

const tableItem = (table: Table): PaletteItem => ({
  id: `table:${table.oid}`,
  title: table.name,
  detail: table.schema,
  icon: Table2,
  to: `/tables/${encodeURIComponent(table.schema)}/${encodeURIComponent(table.name)}`,
});

/** Tables of the project come before those of the platform. */
const sortTables = (tables: readonly Table[]): Table[] =>
  tables.toSorted(
    (a, b) => Number(platformSchemas.has(a.schema)) - Number(platformSchemas.has(b.schema)),
  );

/** What begins with the text comes before what only contains it. */
function sortByStart(items: readonly PaletteItem[], text: string): PaletteItem[] {
  const start = text.trim().toLowerCase();
  const rank = ({ title }: PaletteItem) => Number(!title.toLowerCase().startsWith(start));
  return items.toSorted((a, b) => rank(a) - rank(b));
}

/** Lines of the sources that must be asked, a moment after the last letter. */
function useFoundGroups(sources: readonly PaletteSource[], text: string): readonly Group[] {
  const [found, setFound] = useState<readonly Group[]>([]);
  useEffect(() => {
    const controller = new AbortController();
    setFound([]);
    const timer = window.setTimeout(() => {
      for (const { name, search } of sources) {
        void search?.(text, controller.signal).then(
          (items) => {
            if (controller.signal.aborted || items.length === 0) return;
            setFound((groups) => [...groups, { name, items }]);
          },
          // Sources that cannot be searched now are left out; their own screens show the error.
          () => undefined,
        );
      }
    }, 120);
    return () => {
      window.clearTimeout(timer);
      controller.abort();
    };
  }, [sources, text]);
  return found;
}

/** Finds screens, tables, what screens add, and actions by a few letters (mod+k). */
export function CommandPalette({ onClose }: { onClose: () => void }) {
  const navigate = useNavigate();
  const catalog = useCatalog();
  const sources = usePaletteSources();
  const [text, setText] = useState("");
  const found = useFoundGroups(sources, text.trim());
  const fixed = useMemo(
    (): Group[] => [
      { name: "Screens", items: screenItems },
      { name: "Tables", items: sortTables(catalog?.tables ?? []).map(tableItem) },
      ...sources.flatMap(({ name, items }) => (items === undefined ? [] : [{ name, items }])),
    ],
    [sources, catalog],
  );
  const matching = fixed.map(({ name, items }) => ({
    name,
    items: sortByStart(
      items.filter((item) => isMatch(item, text)),
      text,
    ).slice(0, shownPerGroup),
  }));
  const groups = [...matching, ...found].filter(({ items }) => items.length > 0);
  const choose = (item: PaletteItem) => {
    onClose();
    if (item.to !== undefined) void navigate(item.to);
    item.run?.();
  };
  return (
    <RadixDialog.Root open onOpenChange={(open) => !open && onClose()}>
      <RadixDialog.Portal>
        <RadixDialog.Overlay className="fade-in fixed inset-0 z-40 bg-scrim" />
        <RadixDialog.Content
          aria-describedby={undefined}
          className="panel-in -translate-x-1/2 fixed top-[10vh] left-1/2 z-50 w-[min(36rem,calc(100vw-1rem))] overflow-hidden rounded-md border border-line bg-raised shadow-raised outline-none"
        >
          <RadixDialog.Title className="sr-only">Find</RadixDialog.Title>
          <Command shouldFilter={false} loop label="Find">
            <Command.Input
              value={text}
              onValueChange={setText}
              placeholder="Find a screen, table, user or action"
              className="h-12 w-full border-line border-b bg-transparent px-4 text-small outline-none placeholder:text-ink-soft max-md:text-body"
            />
            <Command.List className="max-h-[60vh] overflow-y-auto p-1.5">
              <Command.Empty className="px-3 py-8 text-center text-ink-soft">
                Nothing has this name.
              </Command.Empty>
              {groups.map(({ name, items }) => (
                <Command.Group
                  key={name}
                  heading={name}
                  className="[&_[cmdk-group-heading]]:px-2 [&_[cmdk-group-heading]]:pt-2 [&_[cmdk-group-heading]]:pb-1 [&_[cmdk-group-heading]]:text-ink-soft [&_[cmdk-group-heading]]:text-label"
                >
                  {items.map((item) => (
                    <PaletteLine key={item.id} item={item} onChoose={choose} />
                  ))}
                </Command.Group>
              ))}
            </Command.List>
          </Command>
        </RadixDialog.Content>
      </RadixDialog.Portal>
    </RadixDialog.Root>
  );
}

interface PaletteLineProps {
  item: PaletteItem;
  onChoose: (item: PaletteItem) => void;
}

function PaletteLine({ item, onChoose }: PaletteLineProps) {
  const Icon = item.icon;
  const screen = screens.find(({ path }) => item.to === `/${path}`);
  return (
    <Command.Item
      value={item.id}
      onSelect={() => onChoose(item)}
      className="flex h-9 cursor-pointer items-center gap-2.5 rounded-[4px] px-2 text-caption data-[selected=true]:bg-hover pointer-coarse:h-11"
    >
      {Icon !== undefined && (
        <Icon aria-hidden="true" className="size-4 shrink-0 text-ink-soft" strokeWidth={1.7} />
      )}
      <span className="min-w-0 truncate">
        <Text>{item.title}</Text>
      </span>
      {item.detail !== undefined && (
        <span className="min-w-0 truncate text-ink-soft text-label">
          <Text>{item.detail}</Text>
        </span>
      )}
      {screen !== undefined && (
        <span className="ml-auto max-md:hidden">
          <Kbd keys={`g ${screen.key}`} />
        </span>
      )}
    </Command.Item>
  );
}
