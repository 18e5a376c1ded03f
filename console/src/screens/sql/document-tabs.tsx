/** The open queries as tabs above the editor. */
import { cn } from "@ui/cn";
import { IconButton } from "@ui/icon-button";
import { isEnter, isEscape } from "@ui/keys";
import { useOnLeave } from "@ui/use-on-leave";
import { Ellipsis, Plus, X } from "lucide-react";
import { type KeyboardEvent, useRef, useState } from "react";
import { Input } from "@/components/input";
import { Menu, MenuItem } from "@/components/menu";
import { Text } from "@/components/text";
import { changeDocument, type SqlDocument } from "./documents";

interface DocumentTabsProps {
  documents: readonly SqlDocument[];
  current: string;
  /** Ids of tabs with a running query. */
  running: ReadonlySet<string>;
  onOpen: (id: string) => void;
  onClose: (id: string) => void;
  onAdd: () => void;
  onReopen: () => void;
}

export function DocumentTabs(props: DocumentTabsProps) {
  const { documents, current, running, onOpen, onClose, onAdd, onReopen } = props;
  const [renamed, setRenamed] = useState<string | null>(null);

  function handleKey(event: KeyboardEvent) {
    const index = documents.findIndex(({ id }) => id === current);
    const targets: Record<string, SqlDocument | undefined> = {
      ArrowLeft: documents[index - 1],
      ArrowRight: documents[index + 1],
      Home: documents[0],
      End: documents.at(-1),
    };
    const target = targets[event.key];
    if (target !== undefined) {
      event.preventDefault();
      onOpen(target.id);
      document.getElementById(`sql-tab-${target.id}`)?.focus();
    } else if (event.key === "Delete") onClose(current);
    else if (event.key === "F2") setRenamed(current);
  }

  return (
    <div className="flex shrink-0 items-center border-line border-b bg-surface">
      <div
        role="tablist"
        aria-label="Queries"
        className="no-scrollbar flex min-w-0 overflow-x-auto"
      >
        {documents.map(({ id, name, snippet }) => (
          <div
            key={id}
            role="presentation"
            className={cn(
              "group flex h-9 shrink-0 items-center border-line border-r pl-3 pointer-coarse:h-11",
              id === current ? "bg-canvas shadow-[inset_0_-2px_var(--accent)]" : "hover:bg-hover",
            )}
          >
            {renamed === id ? (
              <RenameField id={id} name={name} onDone={() => setRenamed(null)} />
            ) : (
              <button
                id={`sql-tab-${id}`}
                type="button"
                role="tab"
                aria-selected={id === current}
                aria-controls="sql-panel"
                tabIndex={id === current ? 0 : -1}
                title={snippet === null ? "Double click or F2 renames it" : `Snippet ${snippet}`}
                onClick={() => onOpen(id)}
                onDoubleClick={() => setRenamed(id)}
                onKeyDown={handleKey}
                className={cn(
                  "flex h-full items-center gap-1.5 text-caption outline-offset-[-3px]",
                  id === current ? "text-ink" : "text-ink-soft",
                )}
              >
                {running.has(id) && (
                  <span className="size-1.5 rounded-full bg-info" title="Running" />
                )}
                <span className="max-w-40 truncate">
                  <Text>{name}</Text>
                </span>
              </button>
            )}
            <button
              type="button"
              // A list of tabs may hold tabs alone. Keyboards close with Delete, screen readers by the menu behind.
              tabIndex={-1}
              aria-hidden="true"
              title={`Close ${name}`}
              onClick={() => onClose(id)}
              className={cn(
                "mx-1 flex size-6 items-center justify-center rounded-[4px] text-ink-soft hover:bg-hover hover:text-ink pointer-coarse:size-9",
                id !== current && "opacity-0 group-hover:opacity-100 focus-visible:opacity-100",
              )}
            >
              <X aria-hidden="true" className="size-3.5" />
            </button>
          </div>
        ))}
      </div>
      <IconButton size="dense" label="New query" onClick={onAdd} className="mx-1">
        <Plus aria-hidden="true" className="size-4" />
      </IconButton>
      <Menu
        label="More about queries"
        trigger={
          <IconButton size="dense" label="More about queries">
            <Ellipsis aria-hidden="true" className="size-4" />
          </IconButton>
        }
      >
        <MenuItem onSelect={() => setRenamed(current)}>Rename this query</MenuItem>
        <MenuItem onSelect={() => onClose(current)}>Close this query</MenuItem>
        <MenuItem onSelect={onReopen}>Reopen the closed query</MenuItem>
      </Menu>
    </div>
  );
}

function RenameField({ id, name, onDone }: { id: string; name: string; onDone: () => void }) {
  const typed = useRef(name);
  const isClosed = useRef(false);
  const keepName = () => {
    const next = typed.current.trim();
    if (!isClosed.current && next !== "" && next !== name) changeDocument(id, { name: next });
  };
  const finish = () => {
    keepName();
    isClosed.current = true;
    onDone();
  };
  useOnLeave(keepName);
  return (
    <Input
      autoFocus
      aria-label="Name of the query"
      defaultValue={name}
      className="h-6 w-36"
      onFocus={(event) => event.target.select()}
      onChange={(event) => {
        typed.current = event.target.value;
      }}
      onBlur={finish}
      onKeyDown={(event) => {
        if (isEnter(event)) finish();
        if (isEscape(event)) {
          isClosed.current = true;
          onDone();
        }
      }}
    />
  );
}
