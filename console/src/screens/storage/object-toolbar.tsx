import { Button } from "@ui/button";
import { IconButton } from "@ui/icon-button";
import { LayoutGrid, List } from "lucide-react";
import { Select } from "@/components/input";
import { SearchInput } from "@/components/search-input";
import { plural } from "@/lib/format";
import type { SearchChange } from "@/lib/use-search-state";
import type { ObjectSort } from "./api";
import type { ObjectAction } from "./object-dialogs";

export interface ObjectView {
  isGrid: boolean;
  sort: ObjectSort;
  descending: boolean;
  find: string;
}

const orders: { value: string; label: string; sort: ObjectSort; descending: boolean }[] = [
  { value: "name", label: "Name", sort: "name", descending: false },
  { value: "newest", label: "Newest first", sort: "created_at", descending: true },
  { value: "oldest", label: "Oldest first", sort: "created_at", descending: false },
  { value: "changed", label: "Last changed first", sort: "updated_at", descending: true },
];

/** Reads from the URL how a folder is shown. */
export function readView(search: URLSearchParams): ObjectView {
  const order = orders.find(({ value }) => value === search.get("sort")) ?? orders[0];
  return {
    isGrid: search.get("view") === "grid",
    sort: order?.sort ?? "name",
    descending: order?.descending ?? false,
    find: search.get("find") ?? "",
  };
}

interface ObjectToolbarProps {
  view: ObjectView;
  change: (values: SearchChange, options?: { replace?: boolean }) => void;
  selected: ReadonlySet<string>;
  refusal: string | undefined;
  onAct: (kind: ObjectAction["kind"]) => void;
  onClear: () => void;
}

/** Search, order and view of a folder; with a selection, what can be done with it. */
export function ObjectToolbar(props: ObjectToolbarProps) {
  const { view, change, selected, refusal, onAct, onClear } = props;
  const order = orders.find(
    ({ sort, descending }) => sort === view.sort && descending === view.descending,
  );
  if (selected.size > 0) {
    return (
      <div className="flex min-h-12 flex-wrap items-center gap-2 border-line-soft border-b px-4 py-1.5">
        <span role="status" className="text-caption">
          {plural(selected.size, "entry", "entries")} selected
        </span>
        {(["move", "copy", "delete"] as const).map((kind) => (
          <Button
            key={kind}
            size="dense"
            variant={kind === "delete" ? "danger" : "secondary"}
            disabled={refusal !== undefined}
            title={refusal}
            onClick={() => onAct(kind)}
          >
            {{ move: "Move", copy: "Copy", delete: "Delete" }[kind]}
          </Button>
        ))}
        {selected.size === 1 && (
          <Button
            size="dense"
            disabled={refusal !== undefined}
            title={refusal}
            onClick={() => onAct("rename")}
          >
            Rename
          </Button>
        )}
        <Button size="dense" variant="quiet" onClick={onClear}>
          Clear selection
        </Button>
      </div>
    );
  }
  return (
    <div className="flex min-h-12 items-center gap-2 border-line-soft border-b px-4 py-1.5 max-md:px-3">
      <SearchInput
        label="Names that begin with"
        className="w-64 min-w-0 max-md:flex-1"
        value={view.find}
        onChange={(find) => {
          if (find !== view.find) change({ find }, { replace: true });
        }}
      />
      <Select
        aria-label="Order"
        className="w-40 max-md:w-28"
        value={order?.value}
        onChange={(event) =>
          change({ sort: event.target.value === "name" ? null : event.target.value })
        }
      >
        {orders.map(({ value, label }) => (
          <option key={value} value={value}>
            {label}
          </option>
        ))}
      </Select>
      <IconButton
        size="dense"
        label={view.isGrid ? "Show as list" : "Show as grid"}
        className="ml-auto"
        onClick={() => change({ view: view.isGrid ? null : "grid" })}
      >
        {view.isGrid ? <List className="size-4" /> : <LayoutGrid className="size-4" />}
      </IconButton>
    </div>
  );
}
